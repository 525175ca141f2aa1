"""Map a function over shards: here in processes now, on a cluster later. A seam of one method."""

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from typing import Protocol, TypeVar

from tqdm import tqdm

T = TypeVar("T")
R = TypeVar("R")


class Engine(Protocol):
    """Anything that can map a picklable function over shards and give the results back in order."""

    def map(
        self, function: Callable[[T], R], shards: Iterable[T], *, description: str, on_gpu: bool = False
    ) -> Iterator[R]:
        """Apply `function` to each shard; results come in the order of the shards.

        Args:
            function: picklable.
            shards: in order.
            description: for the bar of progress.
            on_gpu: whether `function` takes a GPU: that it is meant to, and that there is one.
        """
        ...


def end_with_parent() -> None:
    """Let this worker end when its stage is killed: by itself it would wait for work, and hold its memory, for ever."""

    def wait_and_end() -> None:
        parent = multiprocessing.parent_process()
        assert parent is not None
        parent.join()
        os._exit(1)

    threading.Thread(target=wait_and_end, daemon=True).start()


@dataclass(frozen=True)
class LocalEngine:
    """Processes of this machine; one worker runs in this very process.

    Attributes:
        workers: how many.
        gpu_workers: at most so many where the function takes a GPU, in which each process has all networks.
        check: called before each result is handed out; raises when the results may not be kept.
    """

    workers: int
    gpu_workers: int = 1
    check: Callable[[], None] = lambda: None

    def map(
        self, function: Callable[[T], R], shards: Iterable[T], *, description: str, on_gpu: bool = False
    ) -> Iterator[R]:
        """Apply `function` to each shard; at most a few shards a worker wait in memory."""
        workers = self.workers
        if on_gpu and workers > self.gpu_workers:
            workers = self.gpu_workers
        if workers <= 1:
            for result in tqdm(map(function, shards), desc=description, unit="shard", mininterval=5, leave=False):
                self.check()
                yield result
            return
        # Threads of numeric libraries do not survive a fork; spawned processes start clean.
        start = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(workers, mp_context=start, initializer=end_with_parent) as pool:
            waiting = []
            for shard in tqdm(shards, desc=description, unit="shard", mininterval=5, leave=False):
                waiting.append(pool.submit(function, shard))
                if len(waiting) >= 2 * workers:
                    yield self._result(waiting.pop(0))
            for future in waiting:
                yield self._result(future)

    def _result(self, future: Future[R]) -> R:
        result = future.result()
        self.check()
        return result
