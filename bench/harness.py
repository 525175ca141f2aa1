"""Common parts of all benches: races with other libraries, the machine's limits, peak memory, and files of figures."""

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
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from bench.tables import race_table
from trivium.core.engine import count_cores
from trivium.core.tables import write_json

FOLDER = Path("metrics/bench")
TRIALS = 5
GOAL = 1.05  # largest ratio of our time to the expert's
STARTED = time.perf_counter()


@dataclass(frozen=True)
class Peer:
    """Another implementation of the same work.

    Attributes:
        name: name of the library, or of what an expert would write.
        call: does the work.
        share: share of the work that `call` does, where all of it takes minutes; seconds are divided by it.
    """

    name: str
    call: Callable[[], object]
    share: float = 1.0


@dataclass(frozen=True)
class Limits:
    """Speed limits of the machine, measured as the bench runs.

    Attributes:
        gflops: GFLOP/s of float32 matrix products, on the threads that the bench has.
        gigabytes: GB/s read and written by one thread that copies.
    """

    gflops: float
    gigabytes: float

    def seconds(self, gflop: float, gigabytes: float) -> tuple[float, str]:
        """Return the least time that so much arithmetic and traffic take, and which of them sets it."""
        return max((gflop / self.gflops, "arithmetic"), (gigabytes / self.gigabytes, "memory bandwidth"))


@cache
def limits() -> Limits:
    """Measure once a process: the best of five trials, since other programs may run."""
    side = np.random.default_rng(0).standard_normal((2048, 2048), np.float32)
    source = np.zeros(1 << 28, np.uint8)
    target = np.zeros_like(source)
    product = min(once(lambda: side @ side) for _ in range(TRIALS))
    copied = min(once(lambda: np.copyto(target, source)) for _ in range(TRIALS))
    return Limits(2 * 2048**3 * 1e-9 / product, 2 * source.nbytes * 1e-9 / copied)


def race(
    ours: Callable[[], object], popular: Peer, expert: Peer, *, gflop: float = 0.0, gigabytes: float = 0.0, why: str
) -> dict[str, Any]:
    """Time ours and two peers in interleaved trials.

    Args:
        ours: our implementation.
        popular: the tool that most people use; timed once if it does only a share of the work.
        expert: what an expert would choose.
        gflop: least arithmetic of the task, in 10⁹ operations.
        gigabytes: least memory traffic of the task, in GB.
        why: a sentence on what equal results cost, for ours taking more than `GOAL` times the expert's time.

    Returns:
        Medians over the trials; ratios are medians of the trials' ratios, so that other load affects both sides.
    """
    calls = {"ours": ours, "popular": popular.call, "expert": expert.call}
    shares = {"ours": 1.0, "popular": popular.share, "expert": expert.share}
    trials: dict[str, list[float]] = {name: [] for name in calls}
    for trial in range(TRIALS + 1):  # the first one warms up and is not counted
        for name, call in calls.items():
            if name == "popular" and popular.share < 1 and trial > 1:
                continue
            seconds = once(call) / shares[name]
            if trial:
                trials[name].append(seconds)
    medians = {name: statistics.median(seconds) for name, seconds in trials.items()}
    ratio = statistics.median(a / b for a, b in zip(trials["ours"], trials["expert"], strict=True))
    least, limited_by = limits().seconds(gflop, gigabytes)
    return {
        "seconds": medians["ours"],
        "popular": popular.name,
        "popular_seconds": medians["popular"],
        "popular_ratio": medians["ours"] / medians["popular"],
        "expert": expert.name,
        "expert_seconds": medians["expert"],
        "expert_ratio": ratio,
        "limit_seconds": least,
        "limit": limited_by,
        "limit_gflops": limits().gflops,
        "limit_gigabytes_a_second": limits().gigabytes,
        "why": why if ratio > GOAL else "",
        "load": os.getloadavg()[0],
    }


def gflop(call: Callable[[], object]) -> float:
    """Count the operations (10⁹) of the products, convolutions and attention that a call has torch do."""
    from torch.utils.flop_counter import FlopCounterMode  # not every bench loads torch

    with FlopCounterMode(display=False) as counter:
        call()
    return counter.get_total_flops() * 1e-9


def once(function: Callable[[], object]) -> float:
    """Time a single call in seconds (wall clock); warm it up on a small input first."""
    started = time.perf_counter()
    function()
    return time.perf_counter() - started


def peak_memory(function: Callable[..., object], *arguments: Any, **options: Any) -> float:
    """Measure the peak resident memory, MiB, of a fresh process that calls `function(*arguments, **options)`.

    The interpreter, the arguments and the imports of the function's module are included: compare inputs of different
    sizes, and keep the function in a module that does not import its peers.

    Args:
        function: function at the top level of an importable module.
        arguments: positional arguments, picklable, as are the keyword arguments `options`.

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
    """Print the figures and write them to `metrics/bench/{name}.json`; races as a table, too.

    The machine and the seconds since the bench began are added.
    """
    if table := race_table({name: values}):
        print(table)
    figures = {**values, "bench_seconds": time.perf_counter() - STARTED, "machine": machine()}
    print(json.dumps(figures, indent=1, ensure_ascii=False))
    write_json(FOLDER / f"{name}.json", figures)


def machine() -> dict[str, Any]:
    """Describe the machine that the figures were measured on."""
    return {"processor": platform.processor() or platform.machine(), "cores": count_cores()}


def module_of_part(name: str, parts: Sequence[str], package: str) -> ModuleType:
    """Import the module of one of the parts of a bench.

    Raises:
        SystemExit: there is no such part.
    """
    if name not in parts:
        raise SystemExit(f"no part {name!r} (choices: {', '.join(parts)})")
    return importlib.import_module(f"{package}.parts.{name}")


def versions(*packages: str) -> dict[str, str]:
    """Return `{package: installed version}` of what was compared."""
    return {package: version(package) for package in packages}


def _report_peak() -> None:
    module, name, arguments, options = pickle.load(sys.stdin.buffer)  # written by `peak_memory`
    getattr(importlib.import_module(module), name)(*arguments, **options)
    print(peak_mib())


def peak_mib() -> float:
    """Return the peak resident memory of this process so far, MiB."""
    status = Path("/proc/self/status")
    if status.exists():  # getrusage's peak outlives exec: it would count the parent's memory
        return int(status.read_text().split("VmHWM:")[1].split()[0]) / 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
