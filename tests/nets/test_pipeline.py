"""A pipeline launches the next batch before it collects the last, and halves batches where memory runs out."""

from collections.abc import Sequence

import pytest
import torch

from trivium.nets.feeding import Pipeline, Transfer


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
    assert all(a is b for a, b in zip(Transfer(*tensors).wait(), tensors, strict=True))


@pytest.mark.gpu
def test_what_leaves_a_gpu_arrives_in_pinned_memory() -> None:
    given = torch.arange(1000, device="cuda")
    (found,) = Transfer(given * 2).wait()
    assert found.is_pinned()
    assert torch.equal(found, torch.arange(1000) * 2)
