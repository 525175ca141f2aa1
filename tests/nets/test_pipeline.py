"""A pipeline keeps its device busy; told by a clock that only the pretended maker and device move."""

from collections.abc import Sequence
from types import SimpleNamespace

import pytest
import torch

from trivium.nets import feeding
from trivium.nets.feeding import Leaving, Pipeline


class Clock:
    """Seconds that pass when somebody works or waits."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now


class Device:
    """Computes a batch in `seconds`, one after the other, while its host does something else."""

    def __init__(self, clock: Clock, seconds: float) -> None:
        self.clock, self.seconds = clock, seconds
        self.free = self.busy = 0.0

    def launch(self, batch: Sequence[int]) -> float:
        """When it will have computed this."""
        self.free = max(self.clock.now, self.free) + self.seconds
        self.busy += self.seconds
        return self.free

    def collect(self, batch: Sequence[int], done: float) -> list[int]:
        self.clock.now = max(self.clock.now, done)
        return [-item for item in batch]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(feeding, "time", SimpleNamespace(monotonic=found.monotonic))
    return found


def through(clock: Clock, making: float, computing: float, batches: int = 16) -> tuple[Pipeline, Device]:
    """Two items a batch; each takes so many seconds to be made here, and on the device."""

    def make(batch: Sequence[int]) -> Sequence[int]:
        clock.now += making
        return batch

    device = Device(clock, computing)
    pipeline = Pipeline(range(2 * batches), 2, make=make, launch=device.launch, collect=device.collect)
    assert [item for found in pipeline for item in found] == [-item for item in range(2 * batches)]
    return pipeline, device


def test_a_device_that_is_faster_than_what_feeds_it_costs_no_time(clock: Clock) -> None:
    pipeline, _ = through(clock, making=3, computing=2)
    alone = 16 * 3
    assert pipeline.taken == alone + 2  # and 5 × 16 one after the other
    assert alone / pipeline.taken >= 0.9
    assert pipeline.waited_for_input == alone
    assert pipeline.waited_for_device == 2  # the last batch


def test_a_device_that_is_slower_is_busy_all_the_time(clock: Clock) -> None:
    pipeline, device = through(clock, making=2, computing=3)
    assert pipeline.taken == device.busy + 2  # what was made first
    assert device.busy / pipeline.taken >= 0.9
    assert (pipeline.waited_for_input, pipeline.waited_for_device) == (16 * 2, pipeline.taken - 16 * 2)
    assert str(pipeline) == "waited 32.0 of 50.0 s for input"


def test_a_single_batch_and_none(clock: Clock) -> None:
    assert through(clock, making=1, computing=1, batches=1)[0].taken == 2
    assert through(clock, making=1, computing=1, batches=0)[0].taken == 0


def test_the_next_batch_is_launched_before_the_last_is_collected() -> None:
    told: list[str] = []

    def step(name: str):
        return lambda batch, *_: told.append(f"{name} {list(batch)}") or batch

    list(Pipeline(range(3), 1, make=step("make"), launch=step("launch"), collect=step("collect")))
    assert told == ["make [0]", "launch [0]", "make [1]", "launch [1]", "collect [0]", "make [2]", "launch [2]",
                    "collect [1]", "collect [2]"]  # fmt: skip


@pytest.mark.parametrize("workers", [0, 2])
def test_batches_are_halved_from_where_memory_runs_out(workers: int, capsys: pytest.CaptureFixture) -> None:
    launched: list[list[int]] = []

    def launch(batch: Sequence[int]) -> Sequence[int]:
        if len(launched) > 1 and len(batch) > 2:
            raise torch.OutOfMemoryError("CUDA out of memory")
        launched.append(list(batch))
        return batch

    pipeline = Pipeline(range(20), 8, make=list, launch=launch, collect=lambda _, batch: list(batch), workers=workers)
    assert list(pipeline) == launched
    assert [len(batch) for batch in launched] == [8, 8, 2, 2]
    assert [item for batch in launched for item in batch] == list(range(20))
    assert "batches of 4 from here on\nout of GPU memory: batches of 2" in capsys.readouterr().out


def test_a_single_item_that_does_not_fit_is_an_error() -> None:
    def launch(batch: Sequence[int]) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory")

    with pytest.raises(torch.OutOfMemoryError):
        list(Pipeline(range(4), 4, make=list, launch=launch, collect=lambda *_: None))


def test_what_is_on_the_cpu_has_arrived() -> None:
    tensors = torch.arange(3), torch.ones(2)
    assert all(a is b for a, b in zip(Leaving(*tensors).arrived(), tensors, strict=True))


@pytest.mark.gpu
def test_what_leaves_a_gpu_arrives_in_pinned_memory() -> None:
    given = torch.arange(1000, device="cuda")
    (found,) = Leaving(given * 2).arrived()
    assert found.is_pinned()
    assert torch.equal(found, torch.arange(1000) * 2)
