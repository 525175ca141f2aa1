"""Measure parts on the first GPU; results are added to `metrics/bench/gpu.json` one by one, with the GPU's name.

Without names of parts, all are measured, and the tests that need a GPU are run. In the graph a stage's processes share
a GPU and the cores; here one process has all cores.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from bench import harness
from bench.gpu.busy import Busy
from bench.gpu.part import PARTS, Part, part_of
from bench.tables import GPU
from trivium.core.arithmetic import remember
from trivium.core.engine import count_cores
from trivium.core.tables import read_json, write_json

TRIALS = 3


def measure(part: Part, folder: Path) -> dict[str, Any]:
    """Measure the median rate of a part over the trials, and how busy the GPU was."""
    inputs = folder / "in"
    inputs.mkdir(parents=True)
    print(f"{part.name}: making {part.size:,} things", flush=True)
    part.make(inputs, part.size)
    rates, shares = [], []
    for trial in range(TRIALS + 1):  # the first one warms up
        out = folder / f"out-{trial}"
        out.mkdir()
        started = time.perf_counter()
        with Busy() as busy:
            done = part.run(inputs, out, part.size if trial else part.few)
        seconds = time.perf_counter() - started
        if trial:
            rates.append(done / seconds)
            shares += [busy.share] if busy.share is not None else []
            print(f"{part.name}: {rates[-1]:.4g} {part.unit}, {seconds:.1f} s", flush=True)
    rate = statistics.median(rates)
    share = statistics.mean(shares) if shares else None
    reached = None if part.goal is None else rate >= part.goal
    return {"rate": rate, "unit": part.unit, "goal": part.goal, "reached": reached, "busy_share": share}


def run_tests() -> dict[str, int]:
    """Run the tests that need a GPU; returns how many passed, failed and were skipped, from pytest's last line."""
    command = [sys.executable, "-m", "pytest", "-q", "-m", "gpu"]
    printed = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False).stdout
    print(printed)
    counts = {name: int(number) for number, name in re.findall(r"(\d+) ([a-z]+)", printed.strip().rpartition("\n")[2])}
    failed = sum(counts.get(name, 0) for name in ("failed", "error", "errors"))
    return {"passed": counts.get("passed", 0), "failed": failed, "skipped": counts.get("skipped", 0)}


def record(name: str, figures: dict[str, Any]) -> None:
    """Add figures to those of the other parts; those of another GPU are dropped."""
    file = harness.FOLDER / f"{GPU}.json"
    gpu = torch.cuda.get_device_name()
    kept = read_json(file) if file.is_file() else {}
    parts = dict(kept["parts"]) if kept.get("gpu") == gpu else {}
    parts[name] = figures
    ordered = {part: parts[part] for part in (*PARTS, "tests") if part in parts}
    versions = harness.versions("torch", "transformers", "faiss-cpu", "onnxruntime-gpu")
    write_json(file, {"gpu": gpu, "machine": harness.machine(), "parts": ordered, "versions": versions})


def main(argv: Sequence[str] | None = None) -> None:
    """Measure the parts that are asked for; all, and the tests, by default."""
    parser = argparse.ArgumentParser(prog="python -m bench.gpu", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all by default")
    parser.add_argument("--scratch", type=Path, help="folder for up to 40 GB of data (the folder for temporary files)")
    arguments = parser.parse_args(argv)
    parts = [part_of(name) for name in arguments.parts or PARTS]
    if not torch.cuda.is_available():
        raise SystemExit("torch finds no GPU")
    remember(False)  # bf16
    os.environ["STAGE_WORKERS"] = str(2 * count_cores())  # half of them feed
    for part in parts:
        with tempfile.TemporaryDirectory(dir=arguments.scratch) as folder:
            record(part.name, measure(part, Path(folder)))
    if not arguments.parts:
        record("tests", run_tests())


if __name__ == "__main__":
    main()
