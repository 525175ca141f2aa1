"""What every benchmark shares: median time, peak memory in a fresh process, and where the figures go."""

import json
import multiprocessing
import os
import platform
import resource
import statistics
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

from stages.tables import write_json

FOLDER = Path("metrics/bench")


def measure(function: Callable[[], object], repeats: int) -> float:
    """Median wall-clock seconds of `repeats` calls, after one call that is not counted."""
    function()
    return statistics.median(_seconds(function) for _ in range(repeats))


def once(function: Callable[[], object]) -> float:
    """Wall-clock seconds of a single call, for what takes minutes; warm it up on a small input first."""
    return _seconds(function)


def peak_memory(function: Callable[..., object], *arguments: Any) -> float:
    """Most resident memory, MiB, of a fresh process that calls `function(*arguments)`.

    The interpreter and what the function's module imports are included: compare inputs of different sizes.

    Raises:
        RuntimeError: the call failed; its traceback is on stderr.
    """
    context = multiprocessing.get_context("spawn")  # a fork would start with this process's memory
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=_report_peak, args=(sender, function, arguments))
    child.start()
    child.join()
    if child.exitcode != 0:
        raise RuntimeError(f"{function.__name__}{arguments} failed with exit code {child.exitcode}")
    return receiver.recv()


def write(name: str, values: dict[str, Any]) -> None:
    """Print the figures and write them, with the machine's, to `metrics/bench/{name}.json`."""
    figures = {**values, "machine": {"processor": platform.processor() or platform.machine(), "cores": _cores()}}
    print(json.dumps(figures, indent=1, ensure_ascii=False))
    write_json(FOLDER / f"{name}.json", figures)


def versions(*packages: str) -> dict[str, str]:
    """`{package: installed version}`, so that a figure says what it was compared with."""
    return {package: version(package) for package in packages}


def _seconds(function: Callable[[], object]) -> float:
    started = time.perf_counter()
    function()
    return time.perf_counter() - started


def _report_peak(sender: Any, function: Callable[..., object], arguments: tuple[Any, ...]) -> None:
    function(*arguments)
    sender.send(_peak_mib())


def _peak_mib() -> float:
    status = Path("/proc/self/status")
    if status.exists():  # getrusage's peak outlives exec: it would count the parent's memory
        return int(status.read_text().split("VmHWM:")[1].split()[0]) / 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
