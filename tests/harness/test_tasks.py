"""A task is handed over whole; its curve is tracked as it comes here, and with its result from elsewhere."""

import pickle
from functools import partial
from pathlib import Path

from trivium.harness.engine import LocalEngine
from trivium.harness.tasks import Curve, made_in, run_task


def count_up(checkpoints: Path, *, to: int, made: Path, log: Curve) -> tuple[dict[str, float], list]:
    """Goes on from the number that it finds."""
    kept = checkpoints / "number"
    first = int(kept.read_text()) if kept.exists() else 0
    for number in range(first, to):
        log(number, value=float(number))
        kept.write_text(str(number + 1))
    made.write_text(str(to))
    return {"first": float(first)}, log.points


class Elsewhere(LocalEngine):
    """Function and shard travel, as to a worker of a cluster."""

    def map(self, function, shards, **options):
        return super().map(pickle.loads(pickle.dumps(function)), shards, **options)


def run(work: Path, to: int, engine: LocalEngine, curve: list) -> dict[str, float]:
    task = partial(count_up, to=to, made=made_in(work) / "out")
    return run_task(
        engine, task, work, lambda step, **values: curve.append((step, values)), on_gpu=False, description="count"
    )


def test_what_it_makes_and_logs_is_the_same_here_and_elsewhere(tmp_path: Path) -> None:
    found = {}
    for name, engine in (("here", LocalEngine(1)), ("elsewhere", Elsewhere(1))):
        work = tmp_path / name
        work.mkdir()
        curve: list = []
        assert run(work, 3, engine, curve) == {"first": 0.0}
        found[name] = curve, (made_in(work) / "out").read_text()
    assert found["here"] == found["elsewhere"]
    assert found["here"] == ([(0, {"value": 0.0}), (1, {"value": 1.0}), (2, {"value": 2.0})], "3")


def test_it_goes_on_from_the_checkpoint_of_the_stage_that_was_killed(tmp_path: Path) -> None:
    run(tmp_path, 2, LocalEngine(1), [])
    curve: list = []
    assert run(tmp_path, 4, LocalEngine(1), curve) == {"first": 2.0}
    assert [step for step, _ in curve] == [2, 3]


def test_a_curve_is_tracked_at_once_here() -> None:
    points: list = []
    curve = Curve(lambda step, **values: points.append((step, values)))
    curve(1, loss=0.5)
    assert (points, curve.points) == ([(1, {"loss": 0.5})], [])
    there = pickle.loads(pickle.dumps(curve))
    there(2, loss=0.25)
    assert (points, there.points) == ([(1, {"loss": 0.5})], [(2, {"loss": 0.25})])
