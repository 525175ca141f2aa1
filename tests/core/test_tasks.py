"""A task is handed over whole; its curve is tracked as it comes here, and with its result from elsewhere."""

import pickle
from functools import partial
from pathlib import Path

import pytest
import torch

from trivium.core.curves import Curves
from trivium.core.engine import Engine, LocalEngine
from trivium.core.errors import BadInput
from trivium.core.stage import Context
from trivium.core.tasks import Curve, load_checkpoint, run_task, save_checkpoint
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


def train(folder, steps, *, interrupted_at=None):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Dropout(0.5), torch.nn.Linear(4, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 - step / 10)
    done = load_checkpoint(folder, model=model, optimizer=optimizer, scheduler=scheduler)
    for step in range(done[0] if done else 0, steps):
        loss = model(torch.randn(3, 4)).square().sum()  # draws from the random state that must be restored
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        if step + 1 == interrupted_at:
            save_checkpoint(
                folder, step=step + 1, model=model, optimizer=optimizer, scheduler=scheduler, extra={"best": 0.5}
            )
            return None
    return model.state_dict()


def test_checkpoint_of_another_shape(tmp_path):
    train(tmp_path, 6, interrupted_at=1)
    model = torch.nn.Linear(2, 2)
    with pytest.raises(BadInput, match="checkpoint does not fit"):
        load_checkpoint(tmp_path, model=model, optimizer=torch.optim.AdamW(model.parameters()))


@pytest.mark.parametrize("there", [True, False])
def test_the_random_states_of_gpus_come_back_where_there_are_gpus(tmp_path, monkeypatch, there):
    """A training that began on a GPU may go on without one."""
    model = torch.nn.Linear(2, 2)
    optimizer, states, given = torch.optim.AdamW(model.parameters()), [torch.arange(3), torch.arange(4)], []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_rng_state_all", lambda: states)
    save_checkpoint(tmp_path, step=1, model=model, optimizer=optimizer)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: there)
    monkeypatch.setattr(torch.cuda, "set_rng_state_all", given.extend)
    assert load_checkpoint(tmp_path, model=model, optimizer=optimizer) == (1, {})
    assert [state.tolist() for state in given] == ([[0, 1, 2], [0, 1, 2, 3]] if there else [])
