"""The reproduction matrix: what the papers print, the command that computes it here, and what others got on real data.

A cell is one number of a paper's table. `tests/published` has what is expected, and how far a run on the paper's data
may be from it; `reproductions/` has one file a run that somebody has signed (`trivium reproduced`).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from trivium.errors import BadInput
from trivium.files.tables import read_json
from trivium.page.kvqae.reading import READING_ROWS, tolerances_of
from trivium.page.kvqae.retrieval import MEASURES, RERANKED_TABLES, TABLES

PUBLISHED, METRICS, LOG = Path("tests/published"), Path("metrics"), Path("reproductions")
PIPELINES = {"kvqae": "KVQAE", "decorrelation": "Decorrelation", "complexity": "Complexity"}
WORLDS = {  # by pipeline, the sources of which none may be the sample's
    "kvqae": ("kvqae",),
    "decorrelation": ("coco", "decorrelation_models"),
    "complexity": ("calor", "complexity_models"),
}


@dataclass(frozen=True)
class Cell:
    """One number of a paper.

    Attributes:
        pipeline: of `PIPELINES`.
        table: such as `Table 3`.
        row: what the paper calls it, or the name of ours.
        measure: of the column.
        stage: that computes it.
        file: of the metric, in `metrics/{pipeline}`.
        metric: its name there.
        unit: the metric is multiplied by this.
        expected: what the paper prints; several where it contradicts itself.
        tolerance: points within which a run on the paper's data agrees; None: the paper's data is not public.
    """

    pipeline: str
    table: str
    row: str
    measure: str
    stage: str
    file: str
    metric: str
    unit: float
    expected: tuple[float, ...]
    tolerance: float | None

    @property
    def key(self) -> str:
        """Names it in a log."""
        return f"{self.pipeline}/{self.file}:{self.metric}"

    def agrees(self, value: float) -> bool | None:
        """Whether a value is within the tolerance of the paper's; None without a tolerance."""
        if self.tolerance is None:
            return None
        return min(abs(value - each) for each in self.expected) <= self.tolerance + 1e-9


def read_cells(folder: Path = PUBLISHED) -> list[Cell]:
    """All cells, paper by paper and table by table; one that stands in two tables stands here twice."""
    of = {name: yaml.safe_load((folder / f"{name}.yaml").read_text(encoding="utf-8")) for name in PIPELINES}
    return [*_kvqae(of["kvqae"]), *_decorrelation(of["decorrelation"]), *_complexity(of["complexity"])]


def _kvqae(printed: Mapping[str, Any]) -> Iterator[Cell]:
    points = printed["tolerances"]["points"]
    for sections, stage in ((TABLES, "evaluate"), (RERANKED_TABLES, "evaluate_reranking")):
        for section, shown in sections.items():
            for block in shown:
                if block.published is None:
                    continue
                rows, table = printed[block.published]["rows"], section.replace("table-", "Table ")
                for ours, theirs in (block.names or {name: name for name in rows}).items():
                    for measure, value in zip(MEASURES, rows[theirs]["values"], strict=True):
                        metric = f"{block.block}_{ours}_{measure['name']}"
                        yield Cell("kvqae", table, rows[theirs]["label"], measure["label"], f"kvqae-{stage}",
                                   f"{stage}.json", metric, 100.0, (value,), points)  # fmt: skip
    rows = printed["table_7"]["rows"]
    for ours, reading in READING_ROWS.items():
        if reading.published:
            row = rows[reading.published]
            tolerances = tolerances_of(row, printed["tolerances"])
            for name, value, tolerance in zip(("f1", "em"), row["values"], tolerances, strict=True):
                yield Cell("kvqae", "Table 7", row["label"], name.upper(), "kvqae-read", "read.json",
                           f"{ours}_{name}", 100.0, (value,), tolerance)  # fmt: skip


def _decorrelation(printed: Mapping[str, Any]) -> Iterator[Cell]:
    sides = {"image_to_text": "image → text", "text_to_image": "text → image"}
    for dataset, name in (("coco", "COCO"), ("flickr30k", "Flickr30k")):
        for row, found in printed["table_1"][dataset].items():
            for place, cutoff in enumerate(printed["cutoffs"]):
                either = tuple(dict.fromkeys(found[each][place] for each in ("values", "also") if each in found))
                yield _asked(
                    "Table 1", f"{name}: {row}", f"ODmAP@{cutoff}", f"{dataset}_{row}_synthetic_odmap@{cutoff}", either,
                    printed["tolerances"]["odmap"],
                )  # fmt: skip
        for row, found in printed["table_2"][dataset].items():
            for side, said in sides.items():
                for place, cutoff in enumerate(printed["cutoffs"]):
                    yield _asked(
                        "Table 2", f"{name}: {row}", f"R@{cutoff}, {said}", f"{dataset}_{row}_{side}_r@{cutoff}",
                        (found[side][place],), printed["tolerances"]["recall"],
                    )  # fmt: skip


def _asked(table: str, row: str, measure: str, metric: str, expected: tuple[float, ...], tolerance: float) -> Cell:
    stage = "decorrelation-evaluate"
    return Cell("decorrelation", table, row, measure, stage, "evaluate.json", metric, 100.0, expected, tolerance)


def _complexity(printed: Mapping[str, Any]) -> Iterator[Cell]:
    labels = {model: row["label"] for model, row in printed["table_1"]["rows"].items()}
    for model, row in printed["table_1"]["rows"].items():
        yield Cell("complexity", "Table 1", labels[model], "ROUGE-L, %", "complexity-score", "score.json",
                   f"{model}_rouge_l_paper", 100.0, (100 * row["values"][0],), None)  # fmt: skip
    for model, row in printed["table_2"]["rows"].items():
        for factor, value in zip(printed["table_2"]["factors"], row, strict=True):
            yield Cell("complexity", "Table 2", labels[model], f"δ of {factor}", "complexity-validate", "validate.json",
                       f"{model}_{factor}_delta", 1.0, (float(value),), None)  # fmt: skip


def values(cells: list[Cell], metrics: Path = METRICS) -> dict[str, float]:
    """What a built graph has of these cells, in the paper's units."""
    files: dict[Path, Mapping[str, Any]] = {}
    found = {}
    for cell in cells:
        file = metrics / cell.pipeline / cell.file
        if file not in files:
            files[file] = read_json(file) if file.exists() else {}
        value = files[file].get(cell.metric)
        if value is not None:
            found[cell.key] = round(cell.unit * value, 2)
    return found


def read_log(folder: Path = LOG) -> list[dict[str, Any]]:
    """All entries, the oldest first.

    Raises:
        BadInput: a file that is no entry.
    """
    entries = []
    for file in sorted(folder.glob("*.json")):
        entry = read_json(file)
        if not isinstance(entry, dict) or not isinstance(entry.get("values"), dict) or "scale" not in entry:
            raise BadInput("not an entry of the log", file=file, expected="what `trivium reproduced` writes")
        entries.append(entry)
    return entries


def matrix(cells: list[Cell], log: list[dict[str, Any]]) -> str:
    """Markdown: a table for each of the papers' tables; a column a scale, with the last value there and its verdict.

    Numbers at another scale than `paper` come from other data, and have no verdict.
    """
    last = {entry["scale"]: entry for entry in log}
    scales = sorted(last, key=lambda scale: (scale != "paper", scale))
    head = ["row", "measure", "command", "paper", "± points", *(f"`{scale}`" for scale in scales)]
    parts = []
    for pipeline, title in PIPELINES.items():
        for table in dict.fromkeys(cell.table for cell in cells if cell.pipeline == pipeline):
            rows = [cell for cell in cells if (cell.pipeline, cell.table) == (pipeline, table)]
            lines = [
                f"| {' | '.join([*_described(cell), *(_found(cell, last[scale], scale) for scale in scales)])} |"
                for cell in rows
            ]
            parts += [f"### {title}, {table}", "", f"| {' | '.join(head)} |", "|---" * len(head) + "|", *lines, ""]
    return "\n".join(parts)


def _described(cell: Cell) -> list[str]:
    expected = " or ".join(f"{each:g}" for each in cell.expected)
    tolerance = "–" if cell.tolerance is None else f"{cell.tolerance:g}"
    return [cell.row, cell.measure, f"`dvc repro {cell.stage}`", expected, tolerance]


def _found(cell: Cell, entry: Mapping[str, Any], scale: str) -> str:
    value = entry["values"].get(cell.key)
    if value is None:
        return "–"
    agrees = cell.agrees(value) if scale == "paper" else None
    return f"{value:g}" + {None: "", True: " ✓", False: " ✗"}[agrees]


def signatures(log: list[dict[str, Any]]) -> str:
    """Markdown: who ran what, where and when."""
    if not log:
        return "Nobody has signed a run on real data yet. `trivium reproduced` makes the first entry."
    head = ["date", "scale", "by", "commit", "machine", "numbers", "note"]
    lines = [
        f"| {entry['date']} | `{entry['scale']}` | {entry['by']} | `{entry['commit'][:8]}` | {entry['machine']} "
        f"| {len(entry['values'])} | {entry['note'] or '–'} |"
        for entry in log
    ]
    return "\n".join([f"| {' | '.join(head)} |", "|---" * len(head) + "|", *lines])
