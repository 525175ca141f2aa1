"""What every benchmark shares: median time, peak memory in a fresh process, and where the figures go."""

import importlib
import json
import os
import pickle
import platform
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

from trivium.files.tables import write_json

FOLDER = Path("metrics/bench")


def measure(function: Callable[[], object], repeats: int) -> float:
    """Median wall-clock seconds of `repeats` calls, after one call that is not counted."""
    function()
    return statistics.median(_seconds(function) for _ in range(repeats))


def once(function: Callable[[], object]) -> float:
    """Wall-clock seconds of a single call, for what takes minutes; warm it up on a small input first."""
    return _seconds(function)


def peak_memory(function: Callable[..., object], *arguments: Any, **options: Any) -> float:
    """Most resident memory, MiB, of a fresh process that calls `function(*arguments, **options)`.

    The interpreter, the arguments and what the function's module imports are included: compare inputs of different
    sizes, and let the function live in a module that does not import its peers.

    Args:
        function: at the top level of an importable module.
        arguments: picklable, as are `options`.

    Raises:
        RuntimeError: the call failed; its traceback is on stderr.
    """
    module = function.__module__
    if module == "__main__":
        module = sys.modules["__main__"].__spec__.name  # type: ignore[union-attr]
    code = "from bench.harness import _report_peak; _report_peak()"
    call = pickle.dumps((module, function.__qualname__, arguments, options))
    child = subprocess.run([sys.executable, "-c", code], input=call, stdout=subprocess.PIPE, check=False)
    if child.returncode != 0:
        raise RuntimeError(f"{module}.{function.__qualname__} failed with exit code {child.returncode}")
    return float(child.stdout.split()[-1])


def write(name: str, values: dict[str, Any]) -> None:
    """Print the figures and write them, with the machine's, to `metrics/bench/{name}.json`."""
    figures = {**values, "machine": {"processor": platform.processor() or platform.machine(), "cores": cores()}}
    print(json.dumps(figures, indent=1, ensure_ascii=False))
    write_json(FOLDER / f"{name}.json", figures)


def versions(*packages: str) -> dict[str, str]:
    """`{package: installed version}`, so that a figure says what it was compared with."""
    return {package: version(package) for package in packages}


def _seconds(function: Callable[[], object]) -> float:
    started = time.perf_counter()
    function()
    return time.perf_counter() - started


def _report_peak() -> None:
    module, name, arguments, options = pickle.load(sys.stdin.buffer)  # written by `peak_memory`
    getattr(importlib.import_module(module), name)(*arguments, **options)
    print(_peak_mib())


def _peak_mib() -> float:
    status = Path("/proc/self/status")
    if status.exists():  # getrusage's peak outlives exec: it would count the parent's memory
        return int(status.read_text().split("VmHWM:")[1].split()[0]) / 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def cores() -> int:
    """That this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
