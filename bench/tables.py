"""Tables of `docs/bench.md`, from `metrics/bench/`: races, rates, memory, and the rehearsal at the papers' size."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from trivium.core.tables import read_json
from trivium.page.html import markdown_table

RATES = ("per_second", "a_second", "median_seconds")
MIB = "_mib"
PAPER_SIZE, GPU = "paper_size", "gpu"  # files with tables of their own


def race_table(benches: Mapping[str, Mapping[str, Any]]) -> str:
    """Compare our code with two peers and the machine's limit, one row for each race; empty without races."""
    rows = [
        [
            f"{bench.replace('_', ' ')}: {task}",
            f"{race['seconds']:.3g}",
            f"{race['popular']}: {race['popular_ratio']:.2f}",
            f"{race['expert']}: {race['expert_ratio']:.2f}",
            f"{race['limit_seconds']:.2g} ({race['limit']})",
            race["why"] or "–",
        ]
        for bench, figures in benches.items()
        for task, race in figures.get("races", {}).items()
    ]
    head = "race", "seconds", "of the popular tool's time", "of the expert's time", "least seconds (limit)", "why more"
    return markdown_table(head, rows) if rows else ""


def bench_table(root: Path) -> str:
    """The races, rates and memory of `make bench`; all that it measured is in `metrics/bench/`."""
    files = sorted((root / "metrics" / "bench").glob("*.json"))
    benches: dict[str, dict[str, Any]] = {
        file.stem: read_json(file) for file in files if file.stem not in {PAPER_SIZE, GPU}
    }
    rates = [
        [bench.replace("_", " "), name.replace("_", " "), f"{value:.3g}"]
        for bench, figures in benches.items()
        for name, value in sorted(figures.items())
        if isinstance(value, (int, float)) and any(word in name for word in RATES)
    ]
    tables = [race_table(benches), markdown_table(("bench", "measure", "value"), rates), _memory_table(benches)]
    return "\n\n".join(filter(None, tables))


def _memory_table(benches: Mapping[str, Mapping[str, Any]]) -> str:
    """Peak memory of fresh processes, and the same with ten times the input."""
    rows = []
    for bench, figures in benches.items():
        for name in sorted(name for name in figures if name.endswith(MIB)):
            more = f"{name}_ten_times_the_"
            grown = [f"{figures[key]:.0f} ({key.removeprefix(more)})" for key in figures if key.startswith(more)]
            side = "ours" if name == f"peak{MIB}" else name.removesuffix(MIB).replace("_", " ")
            rows.append([bench.replace("_", " "), side, f"{figures[name]:.0f}", ", ".join(grown) or "–"])
    return markdown_table(("bench", "memory of", "MiB", "MiB at ten times (what)"), rows)


def rehearsal_table(root: Path) -> str:
    """The parts that were measured at the papers' size: how their processor time grows, and their private memory."""
    file = root / "metrics" / "bench" / f"{PAPER_SIZE}.json"
    if not file.is_file():
        return "No part has been measured."
    rows = [
        [
            name,
            f"{part['size']:,} {part['unit']}",
            *(f"{part[size]['processor_seconds'] / 60:.1f}" for size in ("tenth", "whole")),
            f"n^{part['exponent']:.2f}",
            f"{part['whole']['private_gib']:.1f}",
            "yes" if part["holds"] else "no",
        ]
        for name, part in read_json(file)["parts"].items()
    ]
    minutes = "processor minutes of a tenth", "of the whole"
    return markdown_table(("part", "data", *minutes, "growth", "private GiB", "within the limits"), rows)
