"""Whether there is a Re-Ranking Transformer, and how one is trained: apart from the network, which takes torch."""

from pathlib import Path

from pydantic import Field

from trivium.core.parameters import Parameters
from trivium.core.tables import read_json, write_json

CONFIG = "config.json"
_LEFT_OUT = {"use": False}


def leave_out(folder: Path) -> None:
    """Write, in place of a network, that there is none."""
    write_json(folder / CONFIG, _LEFT_OUT)


def is_left_out(folder: Path) -> bool:
    """Whether a model's folder says that there is no network."""
    return read_json(folder / CONFIG) == _LEFT_OUT


class RrtTrainingParameters(Parameters):
    """Part `training` of section `kvqae.rrt`."""

    layers: int = Field(ge=1, description="Layers of the Transformer")
    heads: int = Field(ge=1, description="Attention heads; a divisor of 128, the width")
    hidden: int = Field(ge=1, description="Width inside the feed-forward networks")
    sharpness: float | None = Field(
        gt=0, description="Of the matching that the first layer begins with; null: random weights, as the authors"
    )
    pairs: int = Field(ge=2, multiple_of=2, description="Pairs a step, half of them of one landmark")
    hard_negatives: int = Field(
        ge=1,
        description="Nearest images of other landmarks that negatives are drawn from; many where global descriptors "
        "are poor, else likeness itself tells that a pair is negative",
    )
    steps: int = Field(ge=1, description="Optimiser steps")
    learning_rate: float = Field(gt=0, description="AdamW's, at its highest")
    weight_decay: float = Field(ge=0, description="AdamW's")
    warmup: float = Field(ge=0, lt=1, description="Share of the steps in which the learning rate rises; then it falls")
    held_out: float = Field(default=0.1, gt=0, lt=1, description="Share of the landmarks that only validation shows")
    validation_pairs: int = Field(ge=2, multiple_of=2, description="Pairs of held-out landmarks, half of them of one")
    validate_every: int = Field(ge=1, description="Steps between validations")
    batch: int = Field(ge=1, description="Pairs scored together in validation")
    checkpoint_every: int = Field(ge=1, description="Steps between checkpoints")
