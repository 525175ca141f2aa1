"""The encoder-decoder reader: T5, FLAN-T5 (v1.1) and mT5 read the template and write the answer (complexity.md §2).

loss = −1/|y| Σ_t log p(y_t | y_<t, prompt), y the tokens of the answer and the end of text; answers are written
greedily. Weights stay in float32 and matrices are multiplied in bf16 on a GPU: T5's activations overflow float16.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

import torch
from pydantic import Field
from torch import Tensor
from transformers import AutoModelForSeq2SeqLM

from trivium.complexity.readers.generation import (
    IGNORED,
    GenerativeReader,
    Pair,
    answer_loss,
    greedy_config,
    load_generator,
)
from trivium.complexity.readers.interface import GenerativeSettings, ReaderSettings, Template
from trivium.nets.device import autocast
from trivium.nets.tokens import pad


class Seq2SeqSettings(GenerativeSettings):
    """An encoder reads question and context, a decoder writes the answer."""

    kind: Literal["seq2seq"] = Field(description="How the reader answers")
    template: Template = Field(
        default="question: {question} contexte: {context}", description="What is read, with {question} and {context}"
    )


class Seq2SeqReader(GenerativeReader):
    """T5 and its like."""

    name: ClassVar[str] = "seq2seq"
    settings_model: ClassVar[type[ReaderSettings]] = Seq2SeqSettings

    def __init__(self, settings: Seq2SeqSettings, module: Any, tokenizer: Any) -> None:
        super().__init__(settings, module, tokenizer)
        start = module.config.decoder_start_token_id
        self.module.generation_config = greedy_config(tokenizer, settings.answer_tokens, decoder_start_token_id=start)

    @staticmethod
    def read_folder(folder: Path) -> tuple[Any, Any]:
        """Both are folders of an encoder-decoder; no weight is new."""
        return load_generator(AutoModelForSeq2SeqLM, folder, "an encoder-decoder", torch.float32)

    def loss(self, features: Sequence[Pair]) -> Tensor:
        """Mean over the features of the mean cross-entropy of their target tokens; a scalar."""
        labels = pad([pair.target for pair in features], IGNORED).to(self.module.device)
        written = self.module.prepare_decoder_input_ids_from_labels(labels)
        with autocast(self.module.device):
            output = self.module(**self.pad_inputs([pair.prompt for pair in features]), decoder_input_ids=written)
        return answer_loss(output.logits, labels)

    def generate(self, prompts: list[list[int]]) -> Tensor:
        """Tokens of each answer, (prompts, tokens)."""
        with autocast(self.module.device):
            # Without the token that it starts from, which is the end-of-text token of some networks.
            return self.module.generate(**self.pad_inputs(prompts))[:, 1:]
