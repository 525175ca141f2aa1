"""Long trainings: handed to the engine whole, so that on a cluster each has a GPU of its own.

So several stages that run at once (cells or seeds) train on several GPUs. What a training logs is tracked at once where
it runs on the stage's machine, and with its result where it runs on another one. There it goes on from a checkpoint of
the stage's machine; its own checkpoints stay there, so that a training whose worker is lost starts anew.
"""

from functools import partial
from pathlib import Path
from typing import Protocol

import torch

from trivium.core.atomic import write_atomically
from trivium.core.engine import LocalEngine
from trivium.core.stage import Context
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
