"""Keep a GPU busy: processes make what it needs next while it computes, and what it gave is fetched meanwhile."""

import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Generic, TypeVar

import torch
from torch.utils.data import DataLoader, Dataset
from tqdm import tqdm

from trivium.core.engine import all_workers
from trivium.core.errors import BadInput

T = TypeVar("T")
M = TypeVar("M")
L = TypeVar("L")
R = TypeVar("R")


class Feed(Generic[R]):
    """What a function makes of 0, 1, 2, …, in this order, whoever makes it.

    Args:
        make: what is made of a number; tensors in it lie in pinned memory where there is a GPU.
        count: how many numbers.
        workers: processes that make what comes next; 0: it is made when it is asked for.
        ahead: how many each of them makes before they are asked for.
    """

    def __init__(self, make: Callable[[int], R], count: int, workers: int, ahead: int = 2) -> None:
        self._make, self._count, self._workers, self._ahead = make, count, workers, ahead

    def __iter__(self) -> Iterator[R]:
        """
        Raises:
            BadInput: as `make` raises it.
        """
        made = iter(self._loader())
        try:
            for _ in range(self._count):
                result = next(made)
                if isinstance(result, BadInput):
                    raise result
                yield result
        finally:
            del made  # ends the workers now, also where an error holds on to this frame

    def _loader(self) -> "DataLoader[R | BadInput]":
        workers = min(self._workers, self._count) if self._count > 1 else 0  # nothing is made beside a single one
        return DataLoader(
            _Made(self._make),
            batch_size=None,
            sampler=range(self._count),
            num_workers=workers,
            prefetch_factor=self._ahead if workers else None,
            worker_init_fn=_begin,
            collate_fn=_as_it_is,
            pin_memory=torch.cuda.is_available(),
            generator=torch.Generator(),  # not the global one: a feed draws nothing
        )


class Pipeline(Generic[T, M, L, R]):
    """What a device makes of items, a batch at a time, in their order.

    While the device computes one batch, the next is made and what it gave for the last is collected. When GPU memory
    runs out, batches are halved, and those that are left are made anew.

    Args:
        items: of which batches are made.
        batch_size: items a batch at first.
        make: a batch's input, without the device: by processes ahead, see `Feed`.
        launch: starts the device on this input; returns what is on its way, see `Leaving`.
        collect: a batch's result, of its input and of what is on its way; waits for the device.
        workers: see `Feed`.
    """

    def __init__(
        self,
        items: Sequence[T],
        batch_size: int,
        *,
        make: Callable[[Sequence[T]], M],
        launch: Callable[[M], L],
        collect: Callable[[M, L], R],
        workers: int = 0,
    ) -> None:
        self._items, self._size, self._workers = items, batch_size, workers
        self._make, self._launch, self._collect = make, launch, collect

    def __iter__(self) -> Iterator[R]:
        """
        Raises:
            torch.OutOfMemoryError: a single item does not fit.
        """
        done, size = 0, self._size
        while done < len(self._items):
            under_way: tuple[M, L] | None = None
            fits = True
            starts = range(done, len(self._items), size)
            for made in Feed(partial(self._made, starts), len(starts), self._workers):
                try:
                    launched = self._launch(made)
                except torch.OutOfMemoryError:
                    if size == 1:
                        raise
                    fits = False
                    break
                if under_way is not None:
                    yield self._collect(*under_way)
                under_way = made, launched
                done += size
            if under_way is not None:
                yield self._collect(*under_way)
            if not fits:  # outside the handler: the error holds on to the tensors of what did not fit
                torch.cuda.empty_cache()
                size = (size + 1) // 2
                print(f"out of GPU memory: batches of {size} from here on")

    def with_progress(self, description: str, unit: str) -> Iterator[R]:
        """The results, each of as many items as it is long, below a bar."""
        total, short = len(self._items), len(self._items) <= self._size
        with tqdm(total=total, desc=description, unit=unit, mininterval=5, leave=False, disable=short) as progress:
            for result in self:
                yield result
                progress.update(len(result))  # type: ignore[arg-type]

    def _made(self, starts: range, number: int) -> M:
        return self._make(self._items[starts[number] : starts[number] + starts.step])


class Leaving:
    """Tensors on their way from the GPU into pinned memory, behind what computes them; those of the CPU are there.

    Args:
        tensors: all on one device.
    """

    def __init__(self, *tensors: torch.Tensor) -> None:
        self._event: torch.cuda.Event | None = None
        self._tensors = tensors
        if tensors[0].is_cuda:
            self._tensors = tuple(
                torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=True).copy_(tensor, non_blocking=True)
                for tensor in tensors
            )
            self._event = torch.cuda.Event()
            self._event.record()

    def arrived(self) -> tuple[torch.Tensor, ...]:
        """On the CPU; waits for them, and not for what the GPU was told to do after them."""
        if self._event is not None:
            self._event.synchronize()
        return self._tensors


def _begin(_: int) -> None:
    """A worker is a fork, in which the threads of tokenizers are gone: it would wait for them."""
    os.environ["TOKENIZERS_PARALLELISM"] = "false"


def _as_it_is(made: R) -> R:
    return made


class _Made(Dataset[R | BadInput]):
    def __init__(self, make: Callable[[int], R]) -> None:
        self._make = make

    def __getitem__(self, number: int) -> R | BadInput:
        try:
            return self._make(number)
        except BadInput as error:  # given as it is: the loader would put the worker's traceback into its message
            return error


def feeders() -> int:
    """Workers of a feed: half of the cores, as two processes share a GPU; none where no GPU waits for them."""
    return max(1, all_workers() // 2) if torch.cuda.is_available() else 0
