"""The language model as reader: Llama goes on after the template; LoRA adapts it (Hu et al. 2021; complexity.md §2).

W' = W + alpha / rank · B A with A (rank, inputs) random and B (outputs, rank) zero at first; only A and B are trained.
loss = −1/|y| Σ_t log p(y_t | y_<t, prompt) over the answer's tokens and the end of text, nothing for the prompt's.
What is saved is A and B, with the way to the base model's folder.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from pydantic import Field
from torch import Tensor
from transformers import AutoModelForCausalLM

from trivium.complexity.readers.generation import (
    IGNORED,
    GenerativeReader,
    Pair,
    answer_loss,
    greedy_config,
    load_generator,
)
from trivium.complexity.readers.interface import SETTINGS, GenerativeSettings, ReaderSettings, Template, read_settings
from trivium.core.errors import BadInput
from trivium.core.tables import read_json, write_json
from trivium.nets.device import autocast, inference_dtype, pick_device
from trivium.nets.tokens import pad

LAYERS = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")  # of a Llama's block
ADAPTER = "adapter_model.safetensors"
BASE = "base.json"  # where the base model is, seen from the adapter's folder


class CausalSettings(GenerativeSettings):
    """A language model goes on after the prompt; LoRA trains a few low-rank matrices."""

    kind: Literal["causal"] = Field(description="How the reader answers")
    template: Template = Field(
        default="Contexte : {context}\nQuestion : {question}\nRéponse :",
        description="What stands before the answer, with {question} and {context}",
    )
    rank: int = Field(ge=1, description="LoRA: rank of the matrices that are trained")
    alpha: float = Field(gt=0, description="LoRA: their product is scaled by alpha / rank")
    dropout: float = Field(default=0.0, ge=0, lt=1, description="LoRA: share of their inputs that training sets to 0")
    target_modules: tuple[str, ...] = Field(
        default=LAYERS, min_length=1, description="LoRA: layers that get such matrices, by name"
    )


class CausalReader(GenerativeReader):
    """Llama and its like, with LoRA."""

    name: ClassVar[str] = "causal"
    settings_model: ClassVar[type[ReaderSettings]] = CausalSettings

    def __init__(self, settings: CausalSettings, module: Any, tokenizer: Any, base: Path) -> None:
        super().__init__(settings, module, tokenizer)
        self.base = base
        self.module.get_base_model().generation_config = greedy_config(tokenizer, settings.answer_tokens)

    @staticmethod
    def read_folder(folder: Path) -> tuple[Any, Any]:
        """A base model's folder alone: what `save` wrote has none of its weights."""
        # Frozen weights of billions: half the memory where bf16 is computed with; LoRA's own stay in float32.
        return load_generator(AutoModelForCausalLM, folder, "a language model", inference_dtype())

    @classmethod
    def start(cls, base: Path, settings: CausalSettings) -> Self:
        """New LoRA matrices on a language model from a Hugging Face folder, which stays as it is.

        Raises:
            BadInput: not such a folder, weights that are missing or do not fit, a layer to adapt that is not there,
                prompt and answer longer than its positions.
        """
        module, tokenizer = cls.read_folder(base)
        room = module.config.max_position_embeddings
        if settings.max_tokens + settings.answer_tokens > room:
            raise BadInput("prompt and answer longer than the model's positions", file=base, field="max_tokens",
                           got=settings.max_tokens, expected=f"at most {room - settings.answer_tokens}")  # fmt: skip
        names = {name.rsplit(".", 1)[-1] for name, part in module.named_modules() if isinstance(part, torch.nn.Linear)}
        if unknown := [name for name in settings.target_modules if name not in names]:
            raise BadInput("no such layer", file=base, field="target_modules", got=unknown, choices=sorted(names))
        config = LoraConfig(
            r=settings.rank,
            lora_alpha=settings.alpha,  # type: ignore[arg-type] # annotated as int, used as a factor
            lora_dropout=settings.dropout,
            target_modules=list(settings.target_modules),
            bias="none",
            task_type="CAUSAL_LM",
        )
        return cls(settings, get_peft_model(module, config).to(pick_device()), tokenizer, base)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Load what `save` wrote on its base model, in evaluation mode.

        Raises:
            BadInput: no adapter, or its base model is not where it was.
        """
        settings: CausalSettings = read_settings(folder)
        if not (folder / ADAPTER).is_file():  # peft would take a pickled one instead
            raise BadInput("no LoRA adapter", file=folder / ADAPTER)
        base = Path(os.path.normpath(folder / read_json(folder / BASE)["folder"]))
        if not base.is_dir():
            raise BadInput("the adapter's base model is not there", file=base, expected="output of base_models")
        module, tokenizer = cls.read_folder(base)
        adapted = PeftModel.from_pretrained(module, folder, local_files_only=True)
        return cls(settings, adapted.to(pick_device()).eval(), tokenizer, base)

    def save(self, folder: Path) -> None:
        """Write the adapter, the way to its base model, and the settings."""
        self.module.peft_config["default"].base_model_name_or_path = self.settings.base
        self.module.save_pretrained(folder, save_embedding_layers=False)
        write_json(folder / BASE, {"folder": os.path.relpath(self.base, folder)})
        write_json(folder / SETTINGS, self.settings.model_dump())

    def loss(self, features: Sequence[Pair]) -> Tensor:
        """Mean over the features of the mean cross-entropy of their target tokens; a scalar."""
        device = self.module.device
        inputs = self.pad_inputs([[*pair.prompt, *pair.target] for pair in features])
        labels = pad([[*[IGNORED] * len(pair.prompt), *pair.target] for pair in features], IGNORED).to(device)
        # The token before predicts; logits before the shortest prompt's last token are not needed.
        first = min(len(pair.prompt) for pair in features) - 1
        kept = torch.arange(first, labels.shape[1] - 1, device=device)
        with autocast(device):
            output = self.module(**inputs, logits_to_keep=kept)
        return answer_loss(output.logits, labels[:, first + 1 :])

    def generate(self, prompts: list[list[int]]) -> Tensor:
        """Tokens that follow each prompt, (prompts, tokens)."""
        inputs = self.pad_inputs(prompts, left=True)
        with autocast(self.module.device):
            return self.module.generate(**inputs)[:, inputs["input_ids"].shape[1] :]
