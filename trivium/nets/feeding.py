"""Keep a GPU busy: worker processes prepare the next inputs, and results are copied, while it computes."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
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


def feed(make: Callable[[int], R], count: int, workers: int, ahead: int = 2) -> Iterator[R]:
    """Yield results of `make` of 0, 1, 2, … up to `count`, in this order, each worker process so many `ahead`.

    Their tensors are in pinned memory if there is a GPU. Without workers results are made in this process, on demand.
    `BadInput` as `make` raises it.
    """
    workers = min(workers, count) if count > 1 else 0  # a single result needs no worker
    loader: DataLoader[R | BadInput] = DataLoader(
        _Items(make),
        batch_size=None,
        sampler=range(count),
        num_workers=workers,
        prefetch_factor=ahead if workers else None,
        worker_init_fn=_begin,
        collate_fn=_identity,
        pin_memory=torch.cuda.is_available(),
        generator=torch.Generator(),  # not the global one: a feed draws nothing
    )
    made = iter(loader)
    try:
        for _ in range(count):
            result = next(made)
            if isinstance(result, BadInput):
                raise result
            yield result
    finally:
        del made  # ends the workers now, even if an error keeps this frame alive


@dataclass(frozen=True)
class Pipeline(Generic[T, M, L, R]):
    """Results of a device for batches of items, in their order.

    While the device computes one batch, the next is prepared and the result of the last is collected. When GPU memory
    runs out, batches are halved, and the remaining ones are prepared again.

    Attributes:
        items: items to be processed.
        batch_size: initial number of items in a batch.
        make: prepares a batch's input without the device, in worker processes, see `feed`.
        launch: starts the device on this input; returns what `collect` needs, such as a `Transfer`.
        collect: makes a batch's result from its input and from what `launch` returned; waits for the device.
        workers: see `feed`.
    """

    items: Sequence[T]
    batch_size: int
    _: KW_ONLY
    make: Callable[[Sequence[T]], M]
    launch: Callable[[M], L]
    collect: Callable[[M, L], R]
    workers: int = 0

    def __iter__(self) -> Iterator[R]:
        """Iterate over the batches' results; `torch.OutOfMemoryError`: a single item does not fit."""
        done, size = 0, self.batch_size
        while done < len(self.items):
            pending: tuple[M, L] | None = None
            fits = True
            starts = range(done, len(self.items), size)
            for made in feed(partial(self._made, starts), len(starts), self.workers):
                try:
                    launched = self.launch(made)
                except torch.OutOfMemoryError:
                    if size == 1:
                        raise
                    fits = False
                    break
                if pending is not None:
                    yield self.collect(*pending)
                pending = made, launched
                done += size
            if pending is not None:
                yield self.collect(*pending)
            if not fits:  # outside the handler, where the error keeps the tensors of the failed batch
                torch.cuda.empty_cache()
                size = (size + 1) // 2
                print(f"out of GPU memory: batches of {size} from here on")

    def with_progress(self, description: str, unit: str) -> Iterator[R]:
        """Iterate over the results with a progress bar; the length of a result is its number of items."""
        total, short = len(self.items), len(self.items) <= self.batch_size
        with tqdm(total=total, desc=description, unit=unit, mininterval=5, leave=False, disable=short) as progress:
            for result in self:
                yield result
                progress.update(len(result))  # type: ignore[arg-type]

    def _made(self, starts: range, number: int) -> M:
        return self.make(self.items[starts[number] : starts[number] + starts.step])


class Transfer:
    """Asynchronous copy of tensors on one device to pinned memory; tensors on the CPU are not copied."""

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

    def wait(self) -> tuple[torch.Tensor, ...]:
        """Return the tensors on the CPU; waits for the copy, but not for later work of the GPU."""
        if self._event is not None:
            self._event.synchronize()
        return self._tensors


def _begin(_: int) -> None:
    """Switch threads of tokenizers off in a worker: it is a fork without them, and would wait forever."""
    os.environ["TOKENIZERS_PARALLELISM"] = "false"


def _identity(made: R) -> R:
    return made


class _Items(Dataset[R | BadInput]):
    def __init__(self, make: Callable[[int], R]) -> None:
        self._make = make

    def __getitem__(self, number: int) -> R | BadInput:
        try:
            return self._make(number)
        except BadInput as error:  # returned: if raised, the loader would put the worker's traceback into its message
            return error


def feeders() -> int:
    """Return the workers of a feed: half of the cores, as two processes share a GPU; 0 without a GPU."""
    return max(1, all_workers() // 2) if torch.cuda.is_available() else 0
