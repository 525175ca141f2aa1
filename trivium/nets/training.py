"""The training loop of all networks of the three papers; a killed training resumes and gives the same bits.

The caller gives the network, optimiser, schedule, batches, and a function that adds a batch's gradient. The loop halves
micro-batches when GPU memory runs out, stops at a loss that is not finite, clips, steps, logs, validates and writes
checkpoints. What is drawn in a step depends on the step's number, or on torch's random state, which a checkpoint holds.
"""

import math
import pickle
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from safetensors.torch import load_model, save_model
from torch.optim.lr_scheduler import LRScheduler
from tqdm import tqdm

from trivium.core.atomic import write_atomically, write_folder
from trivium.core.errors import BadInput
from trivium.core.tables import read_json, write_json
from trivium.nets.device import halve_until_it_fits

B = TypeVar("B")
BEST = "best.safetensors"


@dataclass(frozen=True)
class Validation:
    """How a training is validated, and which weights it keeps.

    Attributes:
        scores: gives named scores of the network, which is in evaluation mode.
        every: steps between validations.
        best: the score whose best weights are kept, the first at equality; None: the last weights are.
        at_end: whether the last step is followed by a validation, too.
        patience: the training ends after so many validations in a row without a better `best`; None: after its steps.
    """

    scores: Callable[[], Mapping[str, float]]
    every: int
    best: str | None = None
    at_end: bool = True
    patience: int | None = None


@dataclass
class Progress:
    """How far a training has come; every checkpoint holds it.

    Attributes:
        micro_batch: items that are computed at once; halved when GPU memory runs out.
        steps: optimiser steps done.
        losses: of the last steps: a tenth of all steps, at least one.
        counts: sums over all steps of the values that `gradient` returns besides the loss.
        scores: validation scores of the weights that are kept.
        kept: the step that those weights are from.
        waited: validations since then without a better score.
    """

    micro_batch: int
    steps: int = 0
    losses: list[float] = field(default_factory=list)
    counts: dict[str, float] = field(default_factory=dict)
    scores: dict[str, float] = field(default_factory=dict)
    kept: int = 0
    waited: int = 0

    @property
    def loss(self) -> float:
        """The loss of the last step."""
        return self.losses[-1]


def train(
    model: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
    scheduler: LRScheduler,
    *,
    steps: int,
    batches: Callable[[int], Iterable[B]],
    gradient: Callable[[B, int], tuple[float, Mapping[str, float]]],
    micro_batch: int,
    unit: str,
    max_gradient_norm: float | None,
    work: Path,
    checkpoint_every: int,
    log: Callable[..., None],
    name: str = "train",
    validation: Validation | None = None,
    saved: torch.nn.Module | None = None,
) -> Progress:
    """Train a network in place for at most `steps` steps; resume from the checkpoint in `work` if there is one.

    Args:
        model: is in training mode when `gradient` is called, and in evaluation mode at the end.
        optimizer, scheduler: over the weights that are trained; the second steps after the first.
        batches: gives the batches from a step (counted from 0) to the last one.
        gradient: adds the gradient of a batch's loss to the network's, computing so many items at once; returns the
            loss, and other values by name, which are summed over all steps. It may be called again with fewer items.
        micro_batch: items that are computed at once, at first.
        unit: name of the items, for messages.
        max_gradient_norm: gradients with a larger norm are scaled down to it; None: no clipping.
        work: folder for the checkpoint and the best weights.
        checkpoint_every: steps between checkpoints; the last step is followed by one, too.
        log: takes the number of steps done and named values: `loss`, `learning_rate`, `gradient_norm` (where there
            is clipping), and the validation's scores.
        name: label of the progress bar.
        validation: None: none, and the last weights are kept.
        saved: the part of `model` that checkpoints hold; None: all of it.

    Raises:
        BadInput: the loss is not finite, or the checkpoint is of another model.
        torch.OutOfMemoryError: a single item does not fit.
    """
    saved = model if saved is None else saved
    progress = load_checkpoint(work, saved, optimizer, scheduler) or Progress(micro_batch)
    trained = [weights for group in optimizer.param_groups for weights in group["params"]]
    patience = validation.patience if validation else None
    ended = patience is not None and progress.waited >= patience
    left = () if ended else batches(progress.steps)

    def compute(batch: B, size: int) -> tuple[float, Mapping[str, float]]:
        model.zero_grad(set_to_none=True)
        return gradient(batch, size)

    # The bar is removed before an error is shown.
    with tqdm(left, desc=name, initial=progress.steps, total=steps, unit="step", mininterval=5, leave=False) as bar:
        for batch in bar:
            model.train()
            attempt = partial(compute, batch)
            (loss, counts), progress.micro_batch = halve_until_it_fits(progress.micro_batch, attempt, unit=unit)
            done = progress.steps + 1
            if not math.isfinite(loss):
                raise BadInput("the loss is not finite", row=f"step {done}", got=loss, expected="a lower learning rate")
            values = {"loss": loss, "learning_rate": scheduler.get_last_lr()[0]}
            if max_gradient_norm is not None:
                values["gradient_norm"] = float(torch.nn.utils.clip_grad_norm_(trained, max_gradient_norm))
            optimizer.step()
            scheduler.step()
            progress.steps = done
            progress.losses = [*progress.losses, loss][-max(1, steps // 10) :]
            progress.counts |= {key: progress.counts.get(key, 0.0) + count for key, count in counts.items()}
            log(done, **values)
            if validation and (validation.at_end if done == steps else done % validation.every == 0):
                _validate(model, validation, progress, work, log)
            ended = patience is not None and progress.waited >= patience
            if done % checkpoint_every == 0 or done == steps or ended:
                save_checkpoint(work, progress, saved, optimizer, scheduler)
            if ended:
                break
    if validation and validation.best:
        load_model(model, str(work / BEST))
    model.eval()
    return progress


def _validate(
    model: torch.nn.Module, validation: Validation, progress: Progress, work: Path, log: Callable[..., None]
) -> None:
    """Log the validation scores; keep them, and write the weights, if they are the best so far."""
    model.eval()
    scores = dict(validation.scores())
    log(progress.steps, **scores)
    best = validation.best
    if best and progress.scores and scores[best] <= progress.scores[best]:
        progress.waited += 1
        return
    progress.scores, progress.kept, progress.waited = scores, progress.steps, 0
    if best:
        with write_atomically(work / BEST) as target:
            save_model(model, str(target))


def save_checkpoint(
    folder: Path,
    progress: Progress,
    model: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
    scheduler: LRScheduler,
) -> None:
    """Replace the checkpoint in `folder/checkpoint` by the state of a training."""
    with write_folder(folder / "checkpoint") as temporary:
        save_model(model, str(temporary / "model.safetensors"))
        state: dict[str, Any] = {"optimizer": optimizer.state_dict(), "scheduler": scheduler.state_dict()}
        state["torch"] = torch.get_rng_state()
        if torch.cuda.is_available():
            state["cuda"] = torch.cuda.get_rng_state_all()
        torch.save(state, temporary / "state.pt")
        write_json(temporary / "progress.json", asdict(progress))


def load_checkpoint(
    folder: Path, model: torch.nn.Module, optimizer: torch.optim.Optimizer, scheduler: LRScheduler
) -> Progress | None:
    """Load the last checkpoint into model, optimiser, schedule and random state.

    Returns how far the training had come, or None when there is none; `BadInput` where it is of another shape.
    """
    checkpoint = folder / "checkpoint"
    if not checkpoint.exists():
        return None
    try:
        load_model(model, str(checkpoint / "model.safetensors"))
        state = torch.load(checkpoint / "state.pt", weights_only=True)
    except (RuntimeError, pickle.UnpicklingError) as error:
        raise BadInput(f"checkpoint does not fit: {error}", file=checkpoint) from None
    optimizer.load_state_dict(state["optimizer"])
    scheduler.load_state_dict(state["scheduler"])
    torch.set_rng_state(state["torch"])
    if "cuda" in state and torch.cuda.is_available():
        torch.cuda.set_rng_state_all(state["cuda"])
    return Progress(**read_json(checkpoint / "progress.json"))


def add_gradient(size: int, micro_batch: int, loss_of: Callable[[slice], torch.Tensor]) -> float:
    """Add the gradient of a batch's loss, computed in micro-batches; returns the loss.

    `loss_of` gives the share that a part of the batch has in it.
    """
    total = 0.0
    for start in range(0, size, micro_batch):
        loss = loss_of(slice(start, start + micro_batch))
        loss.backward()
        total += loss.item()
    return total


def draw_places(count: int, places: range, *seed: int) -> list[tuple[int, int]]:
    """Draw (item, epoch) at these places of an endless sequence of shuffled epochs of `count` items."""
    epochs = {place // count for place in places}
    orders = {epoch: np.random.default_rng([*seed, epoch]).permutation(count) for epoch in epochs}
    return [(int(orders[place // count][place % count]), place // count) for place in places]


def rows_of_step(count: int, size: int, step: int, *seed: int) -> list[int]:
    """Draw the `size` rows, of `count`, of step `step` (from 0): consecutive ones in a sequence of shuffled epochs."""
    return [row for row, _ in draw_places(count, range(step * size, (step + 1) * size), *seed)]


def rise_and_fall(step: int, *, rising: int, steps: int) -> float:
    """Factor of the learning rate at a step, counted from 0: linear warm-up over `rising` steps, then decay to 0."""
    return (step + 1) / (rising + 1) if step < rising else (steps - step) / max(1, steps - rising)
