"""Keep a GPU busy: processes make what it needs next while it computes."""

import time
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

import torch
from torch.utils.data import DataLoader, Dataset

from trivium.harness.stage import all_workers

R = TypeVar("R")


class Feed(Generic[R]):
    """What a function makes of 0, 1, 2, …, in this order, whoever makes it.

    Args:
        make: what is made of a number; tensors in it lie in pinned memory where there is a GPU.
        count: how many numbers.
        workers: processes that make what comes next; 0: it is made when it is asked for.

    Attributes:
        waited: seconds that were waited for what is made next: the GPU has nothing to do.
        taken: seconds from the first to the last.
    """

    def __init__(self, make: Callable[[int], R], count: int, workers: int) -> None:
        self._make, self._count, self._workers = make, count, workers
        self.waited = self.taken = 0.0

    def __iter__(self) -> Iterator[R]:
        started = time.monotonic()
        made = iter(self._loader())
        for _ in range(self._count):
            asked = time.monotonic()
            each = next(made)
            self.waited += time.monotonic() - asked
            yield each
        self.taken = time.monotonic() - started

    def _loader(self) -> "DataLoader[R]":
        return DataLoader(
            _Made(self._make),
            batch_size=None,
            sampler=range(self._count),
            num_workers=min(self._workers, self._count),
            collate_fn=_as_it_is,
            pin_memory=_has_gpu(),
            generator=torch.Generator(),  # not the global one: a feed draws nothing
        )


def _as_it_is(made: R) -> R:
    return made


class _Made(Dataset[R]):
    def __init__(self, make: Callable[[int], R]) -> None:
        self._make = make

    def __getitem__(self, number: int) -> R:
        return self._make(number)


def feeders() -> int:
    """Workers of a feed: half of the cores, as two processes share a GPU; none where no GPU waits for them."""
    return max(1, all_workers() // 2) if _has_gpu() else 0


def _has_gpu() -> bool:
    return torch.cuda.is_available()
