"""Training of the frame parser: both kinds of reading side by side, a fixed number of steps, resumable."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import torch
from pydantic import Field
from tqdm import tqdm
from transformers import get_linear_schedule_with_warmup

from trivium.complexity.frames.parser_folder import FrameParser
from trivium.complexity.frames.training_readings import Taught
from trivium.errors import BadInput
from trivium.harness.parameters import Parameters
from trivium.harness.resume import load_checkpoint, save_checkpoint
from trivium.nets.device import halving
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


def rows_of_step(count: int, size: int, step: int, seed: int) -> list[int]:
    """Which of `count` rows step `step` (from 0) sees: consecutive ones of an endless row of shuffled epochs."""
    places = range(step * size, (step + 1) * size)
    orders = {epoch: np.random.default_rng([seed, epoch]).permutation(count) for epoch in {p // count for p in places}}
    return [int(orders[place // count][place % count]) for place in places]


def mean_loss(parser: FrameParser, taught: Sequence[Taught]) -> torch.Tensor:
    """Mean cross-entropy over the words of readings of one kind."""
    logits, _ = parser.logits([each.asked for each in taught])
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
    first, extra = load_checkpoint(work, model=network, optimizer=optimizer, scheduler=scheduler) or (0, {})
    together = parameters.mini_batch
    for step in tqdm(range(first, parameters.steps), desc="frame parser", unit="step", mininterval=5, leave=False):
        network.train()
        batches = [
            [triggers[row] for row in rows_of_step(len(triggers), parameters.windows, step, seed)],
            [elements[row] for row in rows_of_step(len(elements), parameters.frames, step, seed)],
        ]
        loss, together = halving(together, partial(_backward, parser, batches), unit="readings")
        if not math.isfinite(loss):
            raise BadInput("the loss is not finite", row=f"step {step + 1}", got=loss, expected="a lower learning rate")
        norm = torch.nn.utils.clip_grad_norm_(network.parameters(), parameters.max_gradient_norm)
        optimizer.step()
        done = step + 1
        log(done, loss=loss, learning_rate=scheduler.get_last_lr()[0], gradient_norm=float(norm))
        scheduler.step()
        extra = {"loss": loss}
        if done % parameters.validate_every == 0 and done < parameters.steps:
            network.eval()
            log(done, **validate())
        if done % parameters.checkpoint_every == 0:
            save_checkpoint(work, step=done, model=network, optimizer=optimizer, scheduler=scheduler, extra=extra)
    network.eval()
    return extra


def _backward(parser: FrameParser, batches: Sequence[Sequence[Taught]], together: int) -> float:
    """The gradient of the sum of the batches' losses, so many readings at a time; returns the loss."""
    parser.network.zero_grad(set_to_none=True)
    return sum(_add_gradient(parser, batch, together) for batch in batches)


def _add_gradient(parser: FrameParser, batch: Sequence[Taught], together: int) -> float:
    """Add the gradient of a batch's mean loss over words; returns the loss."""
    words = sum(len(each.tags) for each in batch)
    total = 0.0
    for start in range(0, len(batch), together):
        part = batch[start : start + together]
        loss = mean_loss(parser, part) * (sum(len(each.tags) for each in part) / words)
        loss.backward()
        total += loss.item()
    return total
