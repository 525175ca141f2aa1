"""Training of the frame parser: both kinds of reading side by side, a fixed number of steps, resumable."""

from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from pydantic import Field
from transformers import get_linear_schedule_with_warmup

from trivium.complexity.frames.parser_folder import FrameParser, collate
from trivium.complexity.frames.training_readings import Taught
from trivium.core.parameters import Parameters
from trivium.nets import training
from trivium.nets.frame_parser import tagging_loss


class FrameTrainingParameters(Parameters):
    """How the parser is trained."""

    windows: int = Field(ge=1, description="Sentences read for triggers in a step")
    frames: int = Field(ge=1, description="Frames whose elements are read in a step")
    mini_batch: int = Field(default=64, ge=1, description="Readings at a time; halves itself when GPU memory runs out")
    steps: int = Field(ge=1, description="Optimiser steps")
    learning_rate: float = Field(gt=0, description="AdamW's, at its highest")
    weight_decay: float = Field(default=0.01, ge=0, description="AdamW's")
    warmup: float = Field(
        default=0.1, ge=0, lt=1, description="Share of the steps in which the learning rate rises; then it falls"
    )
    max_gradient_norm: float = Field(default=1.0, gt=0, description="A longer gradient is scaled to this norm")
    validate_every: int = Field(ge=1, description="Steps between validations")
    checkpoint_every: int = Field(ge=1, description="Steps between checkpoints")


def mean_loss(parser: FrameParser, taught: Sequence[Taught]) -> torch.Tensor:
    """Mean cross-entropy over the words of readings of one kind."""
    logits = parser.logits(collate([each.asked for each in taught], parser.tokenizer.pad_token_id))
    tags = torch.full(logits.shape[:2], -100)
    for row, each in enumerate(taught):
        tags[row, : len(each.tags)] = torch.from_numpy(each.tags)
    return tagging_loss(logits, tags.to(logits.device))


def train(
    parser: FrameParser,
    triggers: Sequence[Taught],
    elements: Sequence[Taught],
    parameters: FrameTrainingParameters,
    *,
    seed: int,
    work: Path,
    validate: Callable[[], dict[str, float]],
    log: Callable[..., None],
) -> dict[str, float]:
    """Train in place; goes on from the checkpoint in `work` if there is one.

    A step sees readings for triggers and readings for elements; its loss is the sum of the two means over words. The
    weights after the last step are kept: the learning rate has fallen to 0 by then.

    Returns:
        `loss` of the last step.

    Raises:
        BadInput: the loss is not finite, or the checkpoint is of another model.
    """
    network = parser.network
    optimizer = torch.optim.AdamW(
        network.parameters(), lr=parameters.learning_rate, weight_decay=parameters.weight_decay, fused=True
    )
    scheduler = get_linear_schedule_with_warmup(
        optimizer, round(parameters.warmup * parameters.steps), parameters.steps
    )

    def batch(step: int) -> list[list[Taught]]:
        return [
            [taught[row] for row in training.rows_of_step(len(taught), size, step, seed)]
            for taught, size in ((triggers, parameters.windows), (elements, parameters.frames))
        ]

    progress = training.train(
        network,
        optimizer,
        scheduler,
        steps=parameters.steps,
        batches=lambda first: map(batch, range(first, parameters.steps)),
        gradient=lambda kinds, together: (sum(_add_gradient(parser, kind, together) for kind in kinds), {}),
        together=parameters.mini_batch,
        unit="readings",
        max_gradient_norm=parameters.max_gradient_norm,
        work=work,
        checkpoint_every=parameters.checkpoint_every,
        log=log,
        name="frame parser",
        validation=training.Validation(validate, parameters.validate_every, at_end=False),
    )
    return {"loss": progress.loss}


def _add_gradient(parser: FrameParser, taught: Sequence[Taught], together: int) -> float:
    """Add the gradient of the mean loss over words of readings of one kind; returns the loss."""
    words = [len(each.tags) for each in taught]
    return training.add_gradient(
        len(taught), together, lambda part: mean_loss(parser, taught[part]) * (sum(words[part]) / sum(words))
    )
