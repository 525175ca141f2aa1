"""What the training of every kind of retrieval model is told (decorrelation.md §4); what one needs besides: `kinds/`.

How large the networks are stands with the weights that they start from, in `models/decorrelation/base`.
"""

from typing import Literal

from pydantic import Field, model_validator

from trivium.core.parameters import Parameters


class TrainingSettings(Parameters):
    """How long, how fast and in which batches a model trains."""

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

    @model_validator(mode="after")
    def _decay_has_an_optimiser(self) -> "TrainingSettings":
        if self.weight_decay and self.optimiser == "adam":
            raise ValueError("weight_decay: Adam is used without; it must be 0")
        return self


class ModelSettings(TrainingSettings):
    """What every kind is told."""

    base: str = Field(min_length=1, description="Folder of the weights to start from, in models/decorrelation/base")
    smallest_crop: float = Field(
        gt=0, le=1, description="Least share of a training picture's area that a random crop keeps, 1: no crops"
    )
