"""A task is handed over whole; its curve is tracked as it comes here, and with its result from elsewhere."""

import pickle
from functools import partial
from pathlib import Path

import pytest

from trivium.core.curves import Curves
from trivium.core.engine import Engine, LocalEngine
from trivium.core.stage import Context
from trivium.core.tasks import Curve, run_task
from trivium.core.tracking import Tracker


def count_up(checkpoints: Path, *, to: int, out: Path, log: Curve) -> tuple[dict[str, float], list]:
    """Goes on from the number that it finds."""
    kept = checkpoints / "number"
    first = int(kept.read_text()) if kept.exists() else 0
    for number in range(first, to):
        log(number, value=float(number))
        kept.write_text(str(number + 1))
    if to > 9:
        raise KeyboardInterrupt
    out.write_text(str(to))
    return {"first": float(first)}, log.points


class Elsewhere:
    """Function and shard travel, as to a worker of a cluster."""

    def has_gpu(self, here):
        return False

    def map(self, function, shards, **options):
        return LocalEngine(1).map(pickle.loads(pickle.dumps(function)), shards, **options)


def run(work: Path, to: int, out: Path, engine: Engine) -> dict[str, float]:
    context = Context(Tracker(curves=Curves(work / "curves")), work, engine)
    return run_task(context, partial(count_up, to=to), out, description="count")


def values(work: Path) -> list[tuple[int, float]]:
    return Curves(work / "curves").points()["value"]


def test_what_it_makes_and_logs_is_the_same_here_and_elsewhere(tmp_path: Path) -> None:
    results = {}
    for name, engine in (("here", LocalEngine(1)), ("elsewhere", Elsewhere())):
        work = tmp_path / name
        work.mkdir()
        assert run(work, 3, work / "out", engine) == {"first": 0.0}
        results[name] = values(work), (work / "out").read_text()
    assert results["here"] == results["elsewhere"]
    assert results["here"] == ([(0, 0.0), (1, 1.0), (2, 2.0)], "3")


def test_it_goes_on_from_the_checkpoint_of_the_stage_that_was_killed(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, 10, tmp_path / "out", LocalEngine(1))
    assert not (tmp_path / "out").exists()
    assert len(values(tmp_path)) == 10  # tracked before the kill
    (tmp_path / "checkpoints" / "number").write_text("2")
    assert run(tmp_path, 4, tmp_path / "out", LocalEngine(1)) == {"first": 2.0}
    assert (tmp_path / "out").read_text() == "4"
