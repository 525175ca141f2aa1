"""Measure the parts that have not been; results are added to `metrics/bench/paper_size.json` one by one."""

import argparse
import math
import resource
import shutil
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psutil

from bench import harness
from bench.paper_size.part import PARTS, Part, part_of
from bench.tables import PAPER_SIZE
from trivium.core.tables import read_json, write_json

KEPT = Path(".work/bench/paper_size")
TRIALS, LONG = 3, 600.0  # trials of each size; a single one if it takes so many seconds
MOST_GIB, MOST_EXPONENT = 6.0, 1.1
LOOKS = 0.05  # seconds between two measurements of memory


def private_gib(process: psutil.Process) -> float:
    """Return the anonymous memory (not of files) of a process and its children now, GiB."""
    kib = 0
    for member in (process, *process.children(recursive=True)):
        try:
            status = Path(f"/proc/{member.pid}/status").read_text()
        except OSError:  # it has ended
            continue
        if "RssAnon:" in status:
            kib += int(status.split("RssAnon:")[1].split()[0])
    return kib / 2**20


def trial(part: Part, folder: Path) -> dict[str, float]:
    """Run a part once; returns processor seconds, seconds and the peak private memory.

    Raises:
        RuntimeError: the run failed; its error is on stderr.
    """
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started, most = time.perf_counter(), 0.0
    process = psutil.Popen([sys.executable, "-m", "bench.paper_size.part", part.name, str(folder)])
    while process.poll() is None:
        try:
            most = max(most, private_gib(process))
        except psutil.NoSuchProcess:
            break
        time.sleep(LOOKS)
    if process.wait():
        raise RuntimeError(f"{part.name} ended with {process.returncode}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"processor_seconds": spent, "seconds": time.perf_counter() - started, "private_gib": most}


def measure(part: Part, size: int, kept: Path, scratch: Path) -> dict[str, float]:
    """Return medians over the trials with so much data, from the file if it has them."""
    file = kept / f"{part.name}-{size}.json"
    if file.is_file():
        return dict(read_json(file))
    data = scratch / f"{part.name}-{size}"
    shutil.rmtree(data, ignore_errors=True)  # of an interrupted rehearsal
    try:
        (data / "in").mkdir(parents=True)
        print(f"{part.name}: making {size} {part.unit}", flush=True)
        part.make(data / "in", size)
        trials: list[dict[str, float]] = []
        while len(trials) < TRIALS and not any(run["seconds"] > LONG for run in trials):
            (data / "out").mkdir()
            trials.append(trial(part, data))
            shutil.rmtree(data / "out")
            print(f"{part.name}, {size} {part.unit}: {trials[-1]}", flush=True)
    finally:
        shutil.rmtree(data, ignore_errors=True)
    medians = {name: statistics.median(run[name] for run in trials) for name in trials[0]} | {"trials": len(trials)}
    write_json(file, medians)
    return medians


def rehearse(part: Part, size: int, kept: Path, scratch: Path) -> dict[str, Any]:
    """Return a part's figures, and how its processor seconds grow from a tenth of its data to all of it."""
    tenth, whole = (measure(part, part_size, kept, scratch) for part_size in (size // 10, size))
    exponent = math.log10(whole["processor_seconds"] / tenth["processor_seconds"])
    holds = exponent <= MOST_EXPONENT and whole["private_gib"] <= MOST_GIB
    print(f"{part.name}: n^{exponent:.2f}, {whole['private_gib']:.1f} GiB{'' if holds else ' TOO MUCH'}", flush=True)
    return {"unit": part.unit, "size": size, "tenth": tenth, "whole": whole, "exponent": exponent, "holds": holds}


def main(argv: Sequence[str] | None = None) -> None:
    """Rehearse the given parts, by default all."""
    parser = argparse.ArgumentParser(prog="python -m bench.paper_size", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all by default")
    parser.add_argument("--scratch", type=Path, default=KEPT, help="folder for up to 40 GB of data (%(default)s)")
    parser.add_argument("--share", type=float, default=1.0, help="of the papers' size (%(default)s)")
    arguments = parser.parse_args(argv)
    kept = KEPT if arguments.share == 1 else KEPT / str(arguments.share)
    for part in [part_of(name) for name in arguments.parts or PARTS]:
        figures = rehearse(part, round(part.size * arguments.share), kept, arguments.scratch)
        if arguments.share == 1:
            record(part.name, figures)


def record(name: str, figures: dict[str, Any]) -> None:
    """Add a part's figures to those of the other parts, which may be of another day."""
    file = harness.FOLDER / f"{PAPER_SIZE}.json"
    parts = dict(read_json(file)["parts"]) if file.is_file() else {}
    parts[name] = {**figures, "machine": harness.machine()}
    limits = {"private_gib": MOST_GIB, "exponent": MOST_EXPONENT}
    write_json(file, {"parts": {part: parts[part] for part in PARTS if part in parts}, "limits": limits})


if __name__ == "__main__":
    main()
