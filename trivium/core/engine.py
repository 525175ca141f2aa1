"""Map a function over shards: in processes here, or by Ray on many machines (`ray_engine.py`)."""

import multiprocessing
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Protocol, TypeVar

from tqdm import tqdm

from trivium.core.arithmetic import is_fast
from trivium.core.errors import redact_output

T = TypeVar("T")
R = TypeVar("R")
WORKER = "TRIVIUM_WORKER"  # in the environment of workers that no process of this machine has started


class Engine(Protocol):
    """Maps a picklable function over shards and returns the results in order."""

    def has_gpu(self, probe: Callable[[], bool]) -> bool:
        """Whether functions that take a GPU find one; `probe` says whether this machine has one."""
        ...

    def map(
        self,
        function: Callable[[T], R],
        shards: Iterable[T],
        *,
        description: str,
        on_gpu: bool = False,
        processes: int | None = None,
        out: Path | None = None,
    ) -> Iterator[R]:
        """Apply `function` to each shard; results come in the order of the shards.

        A worker may be on a machine that shares no disk with this one. There a `Path` that `function` or a shard holds
        leads to a copy of the file or folder that it names here, and nothing else of this machine can be read.

        Args:
            function: picklable, of a module of the project.
            shards: in order.
            description: for the bar of progress.
            on_gpu: whether `function` takes a GPU: that it is meant to, and that there is one.
            processes: number of processes on this machine; None: the engine's own number. On a cluster each has a GPU
                of its own where `function` takes one.
            out: the folder that `function` writes into, where it writes.
        """
        ...


def in_worker() -> bool:
    """Whether this process is an engine's worker, one of several that share the cores."""
    return multiprocessing.parent_process() is not None or WORKER in os.environ


@cache
def warn_without_gpu() -> None:
    """Say once that a stage computes on the processor, at a scale that wants a GPU (`run.portable: false`)."""
    if is_fast() and not in_worker():
        text = "no GPU that torch can use: the processor takes some twenty times as long; `make doctor` says why"
        print(f"WARNING: {text}", file=sys.stderr, flush=True)


def count_cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def all_workers() -> int:
    """The number of worker processes: `STAGE_WORKERS` where stages run side by side, else the number of cores."""
    return int(os.environ.get("STAGE_WORKERS") or count_cores())


def begin_worker() -> None:
    """Start a worker: hide passwords in its output, and end it with its stage."""
    redact_output()
    end_with_parent()


def end_with_parent(before: Callable[[], object] = int) -> None:
    """End this worker when its parent is killed, else it would keep its memory for ever; `before` is called then."""

    def wait_and_end() -> None:
        parent = multiprocessing.parent_process()
        assert parent is not None
        parent.join()
        before()
        os._exit(1)

    threading.Thread(target=wait_and_end, daemon=True).start()


@dataclass(frozen=True)
class LocalEngine:
    """Processes of this machine; one worker runs in this very process."""

    workers: int
    gpu_workers: int = 1  # at most so many where each has all networks on the GPU

    def has_gpu(self, probe: Callable[[], bool]) -> bool:
        """Whether this machine has one."""
        return probe()

    def map(
        self,
        function: Callable[[T], R],
        shards: Iterable[T],
        *,
        description: str,
        on_gpu: bool = False,
        processes: int | None = None,
        out: Path | None = None,
    ) -> Iterator[R]:
        """Apply `function` to each shard; at most a few shards a worker wait in memory."""
        workers = processes or (min(self.workers, self.gpu_workers) if on_gpu else self.workers)
        if workers <= 1:
            yield from tqdm(map(function, shards), desc=description, unit="shard", mininterval=5, leave=False)
            return
        # Threads of numeric libraries do not survive a fork; spawned processes start clean.
        with ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), begin_worker) as pool:
            waiting = []
            for shard in tqdm(shards, desc=description, unit="shard", mininterval=5, leave=False):
                waiting.append(pool.submit(function, shard))
                if len(waiting) >= 2 * workers:
                    yield waiting.pop(0).result()
            for future in waiting:
                yield future.result()
