"""Tables of `docs/bench.md`, from `metrics/bench/`: races, rates, memory, and the rehearsal at the papers' size."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from trivium.core.tables import read_json

RATES = ("per_second", "a_second", "median_seconds")
MIB = "_mib"
PAPER_SIZE, GPU = "paper_size", "gpu"  # files with tables of their own


def race_table(benches: Mapping[str, Mapping[str, Any]]) -> str:
    """Ours beside two peers and the limit of the machine, a row a race; nothing where no bench has one."""
    rows = []
    for bench, figures in benches.items():
        for task, race in figures.get("races", {}).items():
            cells = [
                f"{bench.replace('_', ' ')}: {task}",
                f"{race['seconds']:.3g}",
                f"{race['popular']}: {race['popular_ratio']:.2f}",
                f"{race['expert']}: {race['expert_ratio']:.2f}",
                f"{race['limit_seconds']:.2g} ({race['limit']})",
                race["why"] or "–",
            ]
            rows.append(f"| {' | '.join(cells)} |")
    head = "| race | seconds | of the popular tool's time | of the expert's time | least seconds (limit) | why more |"
    return "\n".join([head, "|---" * 6 + "|", *rows, ""]) if rows else ""


def bench_table(root: Path) -> str:
    """The races, rates and memory of `make bench`; all that it measured is in `metrics/bench/`."""
    files = _files(root)
    rows = []
    for file in files:
        for name, value in sorted(read_json(file).items()):
            if isinstance(value, (int, float)) and any(word in name for word in RATES):
                rows.append(f"| {file.stem.replace('_', ' ')} | {name.replace('_', ' ')} | {value:.3g} |")
    races = race_table({file.stem: read_json(file) for file in files})
    return "\n".join(
        [*([races] if races else []), "| bench | measure | value |", "|---|---|---|", *rows, "", memory_table(root)]
    )


def memory_table(root: Path) -> str:
    """Peak memory of fresh processes, and the same with ten times the input."""
    rows = []
    for file in _files(root):
        figures: dict[str, Any] = read_json(file)
        for name in sorted(name for name in figures if name.endswith(MIB)):
            more = f"{name}_ten_times_the_"
            grown = [f"{figures[key]:.0f} ({key.removeprefix(more)})" for key in figures if key.startswith(more)]
            side = "ours" if name == f"peak{MIB}" else name.removesuffix(MIB).replace("_", " ")
            rows.append(f"| {file.stem.replace('_', ' ')} | {side} | {figures[name]:.0f} | {', '.join(grown) or '–'} |")
    return "\n".join(["| bench | memory of | MiB | MiB at ten times (what) |", "|---|---|---|---|", *rows])


def rehearsal_table(root: Path) -> str:
    """The parts that were measured at the papers' size: how their processor time grows, and their private memory."""
    file = root / "metrics" / "bench" / f"{PAPER_SIZE}.json"
    if not file.is_file():
        return "No part has been measured."
    measured: dict[str, Any] = read_json(file)
    rows = []
    for name, part in measured["parts"].items():
        tenth, whole = part["tenth"], part["whole"]
        minutes = f"{tenth['processor_seconds'] / 60:.1f} | {whole['processor_seconds'] / 60:.1f}"
        growth = f"n^{part['exponent']:.2f} | {whole['private_gib']:.1f}"
        rows.append(
            f"| {name} | {part['size']:,} {part['unit']} | {minutes} | {growth} | {'yes' if part['holds'] else 'no'} |"
        )
    head = "| part | data | processor minutes of a tenth | of the whole | growth | private GiB | within the limits |"
    return "\n".join([head, "|---" * 7 + "|", *rows])


def gpu_table(root: Path) -> str:
    """What was measured on a GPU, and the goal there."""
    file = root / "metrics" / "bench" / f"{GPU}.json"
    if not file.is_file():
        return "No GPU has been measured."
    measured: dict[str, Any] = read_json(file)
    parts = dict(measured["parts"])
    tests = parts.pop("tests", None)
    rows = []
    for name, part in parts.items():
        goal = "–" if part["goal"] is None else f"{part['goal']:g} ({'reached' if part['reached'] else 'missed'})"
        busy = "unknown" if part["busy_share"] is None else f"{100 * part['busy_share']:.0f} %"
        rows.append(f"| {name.replace('_', ' ')} | {part['rate']:.3g} {part['unit']} | {goal} | {busy} |")
    head = "| part | rate | goal | of the time that the GPU computed |"
    about = f"{measured['gpu']}, {measured['machine']['cores']} cores."
    if tests:
        about += f" Tests that need a GPU: {tests['passed']} passed, {tests['failed']} failed."
    return "\n".join([about, "", head, "|---" * 4 + "|", *rows])


def _files(root: Path) -> list[Path]:
    """Of the benches of `make bench`."""
    return sorted(file for file in (root / "metrics" / "bench").glob("*.json") if file.stem not in {PAPER_SIZE, GPU})
