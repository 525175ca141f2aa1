"""One long piece of work, a training, handed to the engine whole: on a cluster it has a GPU of its own there.

Several stages that run at once, cells or seeds, so train on several GPUs. What a training logs is tracked as it comes
where it runs in the stage's process, and with its result where it runs elsewhere. There it goes on from a checkpoint
that lies here; its own stay there, so that a training whose worker is lost starts anew.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Protocol

from trivium.harness.engine import Engine

Metrics = dict[str, float]
Point = tuple[int, dict[str, float]]
Log = Callable[..., None]


class Curve:
    """What a training logs: steps and named values.

    Args:
        log: tracks a point; None in another process than the stage's.

    Attributes:
        points: those that have not been tracked.
    """

    def __init__(self, log: Log | None) -> None:
        self._log = log
        self.points: list[Point] = []

    def __call__(self, step: int, **values: float) -> None:
        """Track a point, or keep it."""
        if self._log is None:
            self.points.append((step, values))
        else:
            self._log(step, **values)

    def __reduce__(self) -> tuple[type["Curve"], tuple[None]]:
        return Curve, (None,)


class Task(Protocol):
    """A training: a function of a module, or a `partial` of one, which names everything else that it reads."""

    def __call__(self, checkpoints: Path, *, log: Curve) -> tuple[Metrics, list[Point]]:
        """Do it; returns the metrics, and `log.points`.

        Args:
            checkpoints: folder to go on from, and to keep checkpoints in.
            log: takes a step and values.
        """
        ...


def made_in(work: Path) -> Path:
    """The folder below a stage's own in which a task leaves what it makes."""
    return work / "made"


def run_task(engine: Engine, task: Task, work: Path, log: Log, *, on_gpu: bool, description: str) -> Metrics:
    """Run a task where the engine says; returns its metrics.

    Args:
        engine: the stage's.
        task: writes into `made_in(work)`.
        work: the stage's folder.
        log: tracks a point of a curve.
        on_gpu: whether it takes a GPU.
        description: for the bar of progress.
    """
    checkpoints, made = work / "checkpoints", made_in(work)
    for folder in (checkpoints, made):
        folder.mkdir(exist_ok=True)
    trained = partial(task, log=Curve(log))
    ((metrics, points),) = engine.map(
        trained, [checkpoints], description=description, on_gpu=on_gpu, processes=1, out=made
    )
    for step, values in points:
        log(step, **values)
    return metrics
