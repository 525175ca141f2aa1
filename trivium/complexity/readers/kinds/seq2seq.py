"""The encoder-decoder reader: T5, FLAN-T5 (v1.1) and mT5 read the template and write the answer (complexity.md §2).

loss = −1/|y| Σ_t log p(y_t | y_<t, prompt), y the tokens of the answer and the end of text; answers are written
greedily. Weights stay in float32 and matrices are multiplied in bf16 on a GPU: T5's activations overflow float16.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import torch
from pydantic import Field
from torch import Tensor
from transformers import AutoModelForSeq2SeqLM

from trivium.complexity.readers.generation import (
    IGNORED,
    Pair,
    answer_loss,
    answers_of,
    filler_of,
    greedy,
    load_generator,
    padded,
    pairs_of,
)
from trivium.complexity.readers.interface import (
    Answer,
    Feature,
    Features,
    GenerativeSettings,
    ReaderSettings,
    Reading,
    Template,
    read_settings,
    write_settings,
)
from trivium.formats.squad import SquadQuestion
from trivium.nets.device import autocast, pick_device


class Seq2SeqSettings(GenerativeSettings):
    """An encoder reads question and context, a decoder writes the answer."""

    kind: Literal["seq2seq"] = Field(description="How the reader answers")
    template: Template = Field(
        default="question: {question} contexte: {context}", description="What is read, with {question} and {context}"
    )


class Seq2SeqReader:
    """T5 and its like."""

    name: ClassVar[str] = "seq2seq"
    settings_model: ClassVar[type[ReaderSettings]] = Seq2SeqSettings
    tiny: ClassVar[Mapping[str, Any]] = {"base": "mt5"}

    def __init__(self, settings: Seq2SeqSettings, module: Any, tokenizer: Any) -> None:
        self.settings, self.module, self.tokenizer = settings, module, tokenizer
        self.module.generation_config = greedy(
            tokenizer, settings.answer_tokens, decoder_start_token_id=module.config.decoder_start_token_id
        )

    @classmethod
    def start(cls, base: Path, settings: Seq2SeqSettings) -> Self:
        """From a Hugging Face folder of an encoder-decoder; no weight is new.

        Raises:
            BadInput: not such a folder, or weights that are missing or do not fit.
        """
        module, tokenizer = _load(base)
        return cls(settings, module.to(pick_device()), tokenizer)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """What `save` wrote, in evaluation mode."""
        settings: Seq2SeqSettings = read_settings(folder)
        module, tokenizer = _load(folder)
        return cls(settings, module.to(pick_device()).eval(), tokenizer)

    def save(self, folder: Path) -> None:
        """Write a Hugging Face folder and the settings."""
        self.module.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)
        write_settings(folder, self.settings)

    def features(self, questions: Sequence[SquadQuestion]) -> Features:
        """A feature a question, the first answer as target; see `pairs_of` for what is counted."""
        return pairs_of(self.tokenizer, questions, self.settings)

    def loss(self, features: Sequence[Feature]) -> Tensor:
        """Mean over the features of the mean cross-entropy of their target tokens; a scalar."""
        pairs = [feature for feature in features if isinstance(feature, Pair)]
        labels = padded([pair.target for pair in pairs], IGNORED).to(self.module.device)
        written = self.module.prepare_decoder_input_ids_from_labels(labels)
        with autocast(self.module.device):
            output = self.module(**self._prompts([pair.prompt for pair in pairs]), decoder_input_ids=written)
        return answer_loss(output.logits, labels)

    @torch.inference_mode()
    def answer(self, readings: Sequence[Reading], batch_size: int) -> list[Answer]:
        """What the model writes, greedily; empty when the context is. In bf16, batches may differ by a near-tie."""
        self.module.eval()
        return answers_of(self.tokenizer, readings, self.settings, batch_size, self._write)

    def _write(self, prompts: list[list[int]]) -> Tensor:
        with autocast(self.module.device):
            # Without the token that it starts from, which is the end-of-text token of some networks.
            return self.module.generate(**self._prompts(prompts))[:, 1:]

    def _prompts(self, prompts: Sequence[Any]) -> dict[str, Tensor]:
        ids = padded(prompts, filler_of(self.tokenizer))
        mask = padded([[1] * len(prompt) for prompt in prompts], 0)
        return {"input_ids": ids.to(self.module.device), "attention_mask": mask.to(self.module.device)}


def _load(folder: Path) -> tuple[Any, Any]:
    return load_generator(AutoModelForSeq2SeqLM, folder, "an encoder-decoder", torch.float32)
