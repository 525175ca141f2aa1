"""The reproduction matrix: what the papers print, the command that computes it here, and what others got on real data.

A cell is one number of a paper's table. `tests/published` has what is expected, and how far a run on the paper's data
may be from it; `reproductions/` has one file a run that somebody has signed (`trivium reproduced`).
"""

import html
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from trivium.core.errors import BadInput
from trivium.core.tables import read_json
from trivium.page.published import (
    DATASETS,
    MEASURES,
    READING_ROWS,
    RERANKED_TABLES,
    TABLES,
    VARIANTS,
    tolerances_of,
)

PUBLISHED, METRICS, LOG = Path("tests/published"), Path("metrics"), Path("reproductions")
PIPELINES = {"kvqae": "KVQAE", "decorrelation": "Decorrelation", "complexity": "Complexity"}
WORLDS = {  # by pipeline, the sources of which none may be the sample's
    "kvqae": ("kvqae",),
    "decorrelation": ("coco", "decorrelation_models"),
    "complexity": ("calor", "complexity_models"),
}
# Of tables that print the same rows for several sets of questions.
QUESTIONS = {"table_4_persons": "persons", "table_4_non_persons": "non-persons", "table_5_face": "face detected"}
SIGNED = ("date", "scale", "by", "commit", "machine", "note")  # texts of an entry, beside its values


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

    @property
    def printed(self) -> str:
        """What the paper prints, in words."""
        return " or ".join(f"{each:g}" for each in self.expected)

    @property
    def allowed(self) -> str:
        """The tolerance; a dash where there is none."""
        return "–" if self.tolerance is None else f"{self.tolerance:g}"


@dataclass(frozen=True)
class Signed:
    """What the last signed run at a scale gave for a cell.

    Attributes:
        value: in the paper's unit; None where that run does not have it.
        agrees: whether it is within the tolerance; None at other scales than `paper`, which have other data.
    """

    value: float | None
    agrees: bool | None


@dataclass(frozen=True)
class Table:
    """A table of a paper.

    Attributes:
        title: such as `Table 3`.
        stages: that compute it.
        rows: the cells of each row.
    """

    title: str
    stages: list[str]
    rows: dict[str, list[Cell]]

    @property
    def cells(self) -> list[Cell]:
        """All of them, row by row."""
        return [cell for row in self.rows.values() for cell in row]

    def measured(self, last: Mapping[str, Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
        """Of the last entries of the scales those that have a number of this table."""
        keys = {cell.key for cell in self.cells}
        return {scale: entry for scale, entry in last.items() if keys & entry["values"].keys()}

    def told(self, entry: Mapping[str, Any]) -> dict[str, int]:
        """How many numbers an entry has, how many of them have a verdict, and how many are within the tolerance."""
        found = [signed(cell, entry) for cell in self.cells]
        return {
            "measured": sum(each.value is not None for each in found),
            "judged": sum(each.agrees is not None for each in found),
            "within": sum(each.agrees is True for each in found),
        }


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
                    label, of = rows[theirs]["label"], QUESTIONS.get(block.published)
                    row = f"{of}: {label}" if of else label
                    for (measure, head), value in zip(MEASURES.items(), rows[theirs]["values"], strict=True):
                        metric = f"{block.block}_{ours}_{measure}"
                        yield Cell("kvqae", table, row, head, f"kvqae-{stage}",
                                   f"{stage}.json", metric, 100.0, (value,), points)  # fmt: skip
    rows = printed["table_7"]["rows"]
    for ours, theirs in READING_ROWS.items():
        row = rows[theirs]
        tolerances = tolerances_of(row, printed["tolerances"])
        for name, value, tolerance in zip(("f1", "em"), row["values"], tolerances, strict=True):
            yield Cell("kvqae", "Table 7", row["label"], name.upper(), "kvqae-read", "read.json",
                       f"{ours}_{name}", 100.0, (value,), tolerance)  # fmt: skip


def _decorrelation(printed: Mapping[str, Any]) -> Iterator[Cell]:
    sides = {"image_to_text": "image → text", "text_to_image": "text → image"}
    for dataset in ("coco", "flickr30k"):
        for row, found in printed["table_1"][dataset].items():
            label = _trained(dataset, row, printed["models"])
            for place, cutoff in enumerate(printed["cutoffs"]):
                either = tuple(dict.fromkeys(found[each][place] for each in ("values", "also") if each in found))
                metric = f"{dataset}_{row}_synthetic_odmap@{cutoff}"
                yield _asked("Table 1", label, f"ODmAP@{cutoff}", metric, either, printed["tolerances"]["odmap"])
        for row, found in printed["table_2"][dataset].items():
            label = _trained(dataset, row, printed["models"])
            for side, said in sides.items():
                for place, cutoff in enumerate(printed["cutoffs"]):
                    metric, expected = f"{dataset}_{row}_{side}_r@{cutoff}", (found[side][place],)
                    yield _asked(
                        "Table 2", label, f"R@{cutoff}, {said}", metric, expected, printed["tolerances"]["recall"]
                    )


def _trained(dataset: str, row: str, models: Mapping[str, str]) -> str:
    """What the page calls `clip_ours`, say."""
    model, _, variant = row.partition("_")
    return f"{DATASETS[dataset]}: {models[model]} {VARIANTS[variant]}"


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


def tables(cells: Sequence[Cell]) -> dict[str, list[Table]]:
    """The cells by pipeline, table and row."""
    found: dict[str, dict[str, Table]] = {pipeline: {} for pipeline in PIPELINES}
    for cell in cells:
        table = found[cell.pipeline].setdefault(cell.table, Table(cell.table, [], {}))
        if cell.stage not in table.stages:
            table.stages.append(cell.stage)
        table.rows.setdefault(cell.row, []).append(cell)
    return {pipeline: list(by_title.values()) for pipeline, by_title in found.items()}


def read_log(folder: Path = LOG) -> list[dict[str, Any]]:
    """All entries, the oldest first.

    Raises:
        BadInput: a file that is no entry.
    """
    entries = []
    for file in sorted(folder.glob("*.json")):
        entry = read_json(file)
        expected = "what `trivium reproduced` writes"
        if not isinstance(entry, dict) or not isinstance(entry.get("values"), dict):
            raise BadInput("not an entry of the log", file=file, expected=expected)
        for field in SIGNED:
            if not isinstance(entry.get(field), str):
                raise BadInput(
                    "not an entry of the log", file=file, field=field, got=entry.get(field), expected=expected
                )
        for name, value in entry["values"].items():
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise BadInput("not an entry of the log", file=file, field=name, got=value, expected="a number")
        entries.append(entry)
    return entries


def last_signed(log: Sequence[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """The last entry of each scale, that of the papers first."""
    last = {entry["scale"]: entry for entry in log}
    return {scale: last[scale] for scale in sorted(last, key=lambda scale: (scale != "paper", scale))}


def signed(cell: Cell, entry: Mapping[str, Any]) -> Signed:
    """What an entry has of a cell."""
    value = entry["values"].get(cell.key)
    judged = value is not None and entry["scale"] == "paper"
    return Signed(value, cell.agrees(value) if judged else None)


def matrix(cells: list[Cell], log: list[dict[str, Any]]) -> str:
    """Markdown: a table for each of the papers' tables; a column a scale, with the last value there and its verdict.

    Numbers at another scale than `paper` come from other data, and have no verdict.
    """
    last = last_signed(log)
    head = ["row", "measure", "command", "paper", "± points", *(f"`{_cell(scale)}`" for scale in last)]
    parts = []
    for pipeline, of_paper in tables(cells).items():
        for table in of_paper:
            lines = [
                f"| {' | '.join([*_described(cell), *(_found(signed(cell, entry)) for entry in last.values())])} |"
                for cell in table.cells
            ]
            title = f"### {PIPELINES[pipeline]}, {table.title}"
            parts += [title, "", f"| {' | '.join(head)} |", "|---" * len(head) + "|", *lines, ""]
    return "\n".join(parts)


def _described(cell: Cell) -> list[str]:
    return [cell.row, cell.measure, f"`dvc repro {cell.stage}`", cell.printed, cell.allowed]


def _found(found: Signed) -> str:
    if found.value is None:
        return "–"
    return f"{found.value:g}" + {None: "", True: " ✓", False: " ✗"}[found.agrees]


def signatures(log: list[dict[str, Any]]) -> str:
    """Markdown: who ran what, where and when."""
    if not log:
        return "Nobody has signed a run on real data yet. `trivium reproduced` makes the first entry."
    head = ["date", "scale", "by", "commit", "machine", "numbers", "note"]
    lines = []
    for entry in log:
        date, scale, by, commit, machine, note = (_cell(entry[field]) for field in SIGNED)
        told = [date, f"`{scale}`", by, f"`{commit[:8]}`", machine, str(len(entry["values"])), note or "–"]
        lines.append(f"| {' | '.join(told)} |")
    return "\n".join([f"| {' | '.join(head)} |", "|---" * len(head) + "|", *lines])


def _cell(text: str) -> str:
    """What somebody wrote, as the text of a cell in Markdown."""
    return html.escape(" ".join(text.split()), quote=False).replace("|", "\\|")
