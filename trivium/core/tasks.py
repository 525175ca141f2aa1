"""Long trainings: handed to the engine whole, so that on a cluster each has a GPU of its own; and their checkpoints.

So several stages that run at once (cells or seeds) train on several GPUs. What a training logs is tracked at once where
it runs on the stage's machine, and with its result where it runs on another one. There it goes on from a checkpoint of
the stage's machine; its own checkpoints stay there, so that a training whose worker is lost starts anew.
"""

import pickle
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import torch
from safetensors.torch import load_model, save_model

from trivium.core.atomic import write_atomically, write_folder
from trivium.core.engine import LocalEngine
from trivium.core.errors import BadInput
from trivium.core.stage import Context
from trivium.core.tables import read_json, write_json
from trivium.core.tracking import Tracker

Metrics = dict[str, float]
Point = tuple[int, dict[str, float]]


class Curve:
    """What a training logs: steps and named values; on another machine than the stage's there is no tracker."""

    def __init__(self, tracker: Tracker | None) -> None:
        self._tracker = tracker
        self.points: list[Point] = []  # that have not been tracked

    def __call__(self, step: int, **values: float) -> None:
        """Track a point, or keep it."""
        if self._tracker is None:
            self.points.append((step, values))
        else:
            self._tracker.log(step, **values)

    def __reduce__(self) -> tuple[type["Curve"], tuple[None]]:
        return Curve, (None,)


class Task(Protocol):
    """A training: a function of a module of the library, as a `partial` that names everything else that it reads.

    What it reads is named by `Path`s. A name that it writes into a model's card is passed as a `str`: on another
    machine its inputs lie at other paths. It seeds the generators that it draws from, which a worker has not seeded.
    """

    def __call__(self, checkpoints: Path, *, out: Path, log: Curve) -> tuple[Metrics, list[Point]]:
        """Make `out`, a file or folder, from checkpoints in a folder on; returns the metrics, and `log.points`."""
        ...


def run_task(context: Context, task: Task, out: Path, *, description: str) -> Metrics:
    """Run a task, which may take a GPU, where the engine decides; returns its metrics when `out` is complete."""
    checkpoints, made = context.work / "checkpoints", context.work / "made"
    for folder in (checkpoints, made):
        folder.mkdir(exist_ok=True)
    trained = partial(task, out=made / "out", log=Curve(context.tracker))
    if isinstance(context.engine, LocalEngine):  # in this very process, where the training has a bar of its own
        metrics, points = trained(checkpoints)
    else:
        on_gpu = context.engine.has_gpu(torch.cuda.is_available)
        ((metrics, points),) = context.engine.map(
            trained, [checkpoints], description=description, on_gpu=on_gpu, processes=1, out=made
        )
    for step, values in points:
        context.tracker.log(step, **values)
    with write_atomically(out) as temporary:
        (made / "out").replace(temporary)
    return metrics


def save_checkpoint(
    folder: Path,
    *,
    step: int,
    model: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
    scheduler: torch.optim.lr_scheduler.LRScheduler | None = None,
    extra: dict[str, Any] | None = None,
) -> None:
    """Replace the checkpoint in `folder/checkpoint` by the state after `step` steps of the optimiser.

    `extra` has small JSON values to get back, such as the best score so far.
    """
    with write_folder(folder / "checkpoint") as temporary:
        save_model(model, str(temporary / "model.safetensors"))
        state: dict[str, Any] = {"optimizer": optimizer.state_dict(), "torch": torch.get_rng_state()}
        if scheduler is not None:
            state["scheduler"] = scheduler.state_dict()
        if torch.cuda.is_available():
            state["cuda"] = torch.cuda.get_rng_state_all()
        torch.save(state, temporary / "state.pt")
        write_json(temporary / "step.json", {"step": step, "extra": extra or {}})


def load_checkpoint(
    folder: Path,
    *,
    model: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
    scheduler: torch.optim.lr_scheduler.LRScheduler | None = None,
) -> tuple[int, dict[str, Any]] | None:
    """Load the last checkpoint into model, optimiser, schedule and random state.

    Returns (steps done, extra), or None when there is none; `BadInput` where it is of a model of another shape.
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
    if scheduler is not None:
        scheduler.load_state_dict(state["scheduler"])
    torch.set_rng_state(state["torch"])
    if "cuda" in state and torch.cuda.is_available():
        torch.cuda.set_rng_state_all(state["cuda"])
    done = read_json(checkpoint / "step.json")
    return done["step"], done["extra"]
