"""Kinds of retrieval models, the settings of their training, and how one is found by its name (decorrelation.md §4).

A kind is a module of `kinds/` with one subclass of `Kind`. Its name is the module's, stands in `params.yaml`
(`decorrelation.train.models`, `decorrelation.cells`) and in the `config.json` of what it saves. No other list names it:
a new file is a new kind. Such a module is light, so that the page can ask for a label; the network is imported where a
model is started or loaded. How large the networks are stands with the weights that they start from, in
`models/decorrelation/base`.
"""

from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field, model_validator

from trivium.core.parameters import Parameters
from trivium.core.registry import Registry


class ModelSettings(Parameters):
    """Settings of every kind: the length, rate and batches of its training, and what it starts from."""

    batch_size: int = Field(ge=2, description="Pairs a step, over all processes together")
    mini_batch_size: int = Field(
        ge=1,
        description="Pairs whose activations are held at a time, where the loss reads embeddings alone (CLIP, VSE++); "
        "halves itself when GPU memory runs out",
    )
    steps: int = Field(ge=1, description="Optimiser steps, the same for every variant; a cell may multiply them")
    optimiser: Literal["adam", "adamw"] = Field(description="Adam, or AdamW (weight decay apart from the gradient)")
    learning_rate: float = Field(gt=0, description="Learning rate of the first step")
    weight_decay: float = Field(ge=0, description="Weight decay of AdamW")
    halve_every: float = Field(
        gt=0, le=1, description="Share of the steps after which the learning rate is halved, again and again"
    )
    max_gradient_norm: float | None = Field(gt=0, description="Largest norm of the gradient, null: not clipped")
    gradient_checkpointing: bool = Field(description="Compute activations twice instead of keeping them: less memory")
    synthetic_share: float | None = Field(
        gt=0, lt=1, description="Share of a batch from D' when training on D and D', null: as large as in their union"
    )

    base: str = Field(
        min_length=1,
        description="Folder in models/decorrelation/base of the weights to start from; may hold {dataset}",
    )
    smallest_crop: float = Field(
        gt=0, le=1, description="Least share of a training picture's area that a random crop keeps, 1: no crops"
    )

    @model_validator(mode="after")
    def _decay_has_an_optimiser(self) -> "ModelSettings":
        if self.weight_decay and self.optimiser == "adam":
            raise ValueError("weight_decay: Adam is used without; it must be 0")
        return self


FAMILY = "trivium.decorrelation.models.kinds"


class Kind:
    """One architecture with its loss.

    Attributes:
        name: of its module.
        label: for tables.
        Settings: what `decorrelation.train.models.<name>` says.
        network: module and name of the class of its models, a `RetrievalModel`.
        teraflop: of a picture and its caption, forward, by the released model, for `make plan`.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    Settings: ClassVar[type[ModelSettings]]
    network: ClassVar[tuple[str, str]]
    teraflop: ClassVar[float]

    @classmethod
    def model(cls) -> Any:
        """The class of its models; torch and its libraries are loaded now."""
        module, name = cls.network
        return getattr(import_module(module), name)

    @classmethod
    def is_whole(cls, base: Path) -> bool:
        """Whether the folder that a model starts from holds all of it, so that it can be evaluated without training."""
        return True


KINDS: Registry[Kind] = Registry(FAMILY, "kind of retrieval model", "kind")
KindName = Annotated[str, AfterValidator(KINDS.check)]
