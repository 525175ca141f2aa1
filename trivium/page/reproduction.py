"""The reproduction matrix: what the papers print, the command that computes it here, and what others got on real data.

A cell is one number of a paper's table. `tests/published` has what is expected, and how far a run on the paper's data
may be from it; `reproductions/` has one file a run that somebody has signed (`trivium reproduced`).
"""

import html
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from trivium.core.arithmetic import Portable
from trivium.core.errors import BadInput
from trivium.core.parameters import read_parameters
from trivium.core.tables import read_json
from trivium.measures.effects import floor_points
from trivium.page.contents import ARTICLES, render_page
from trivium.page.html import markdown_table
from trivium.page.published import DATASETS, DIRECTIONS, MEASURES, READING_ROWS, RERANKED_TABLES, TABLES, VARIANTS

PUBLISHED, METRICS, LOG = Path("tests/published"), Path("metrics"), Path("reproductions")
PIPELINES = {"kvqae": "KVQAE", "decorrelation": "Decorrelation", "complexity": "Complexity"}
WORLDS = {  # by pipeline, the sources of which none may be the sample's
    "kvqae": ("kvqae",),
    "decorrelation": ("coco", "decorrelation_models"),
    "complexity": ("calor", "complexity_models"),
}
# Of tables that print the same rows for several sets of questions.
QUESTIONS = {"table_4_persons": "persons: ", "table_4_non_persons": "non-persons: ", "table_5_face": "face detected: "}
EQUAL_SIZES = {"synthetic_odmap@1": "ODmAP@1", "image_to_text_r@1": "R@1, image → text"}  # columns of appendix B
MARKS = {None: "", True: " ✓", False: " ✗"}
SIGNED = ("date", "scale", "by", "commit", "machine", "note")  # texts of an entry, beside its values


@dataclass(frozen=True)
class Cell:
    """One number of a paper."""

    stage: str  # that computes it; its name begins with the pipeline, and it writes `metrics/{pipeline}/{rest}.json`
    table: str  # such as `Table 3`
    row: str  # what the paper calls it, or the name of ours
    measure: str  # of the column
    metric: str  # its name in the file
    expected: tuple[float, ...]  # what the paper prints; several where it contradicts itself
    tolerance: float | None  # points within which a run on the paper's data agrees; None: it is not public, or `why`
    unit: float = 100.0  # the metric is multiplied by this
    why: str = ""  # there is no tolerance, where it is not the data
    stem: str = ""  # of the metric's file, where it is not the stage's
    is_floored: bool = False  # the paper prints ⌊value⌋, and so do we

    @property
    def pipeline(self) -> str:
        """The pipeline of its stage, of `PIPELINES`."""
        return self.stage.partition("-")[0]

    @property
    def file(self) -> str:
        """The path of its metrics file in `metrics/`."""
        own = self.stage.partition("-")[2].replace("@", "_")
        return f"{self.pipeline}/{self.stem or own}.json"

    @property
    def key(self) -> str:
        """Its name in a log."""
        return f"{self.file}:{self.metric}"

    def agrees(self, value: float) -> bool | None:
        """Whether a value is within the tolerance of the paper's; None without a tolerance."""
        if self.tolerance is None:
            return None
        return min(abs(value - printed) for printed in self.expected) <= self.tolerance + 1e-9

    def summary(self, last: Mapping[str, Mapping[str, Any]]) -> str:
        """What the paper prints, with its tolerance or why there is none, then the last number of each scale.

        Numbers at other scales than `paper` come from other data, and have no verdict.
        """
        printed = " or ".join(f"{value:g}" for value in self.expected)
        parts = [f"{printed} ({self.why})" if self.tolerance is None else f"{printed} ± {self.tolerance:g}"]
        for scale, entry in last.items():
            value = entry["values"].get(self.key)
            if value is not None:
                parts.append(f"{scale} {value:g}{MARKS[self.agrees(value) if scale == 'paper' else None]}")
        return "; ".join(parts)


class Table(NamedTuple):
    """A table of a paper."""

    title: str  # such as `Table 3`
    name: str  # the title with what it shows, in the page's words: `Table 3: finding passages`
    stages: list[str]  # that compute it
    measures: list[str]  # the names of its columns
    cells: list[Cell]
    rows: list[list[str]]  # a label, and what `Cell.summary` says of each measure; a dash where nothing is printed


def read_cells(folder: Path = PUBLISHED) -> list[Cell]:
    """All cells, paper by paper and table by table; one that stands in two tables stands here twice."""
    of = {name: read_parameters(folder / f"{name}.yaml") for name in PIPELINES}
    return [*_kvqae(of["kvqae"]), *_decorrelation(of["decorrelation"]), *_complexity(of["complexity"])]


def _kvqae(printed: Mapping[str, Any]) -> Iterator[Cell]:
    points, deviations = (printed["tolerances"][name] for name in ("points", "deviations"))
    for sections, stage in ((TABLES, "kvqae-evaluate"), (RERANKED_TABLES, "kvqae-evaluate_reranking")):
        for section, block in ((name, block) for name, shown in sections.items() for block in shown if block.published):
            name, table = str(block.published), section.replace("table-", "Table ")
            rows = {key: row for key, row in printed[name]["rows"].items() if "in_table_3" not in row}
            for ours, theirs in (block.names or {row: row for row in rows}).items():
                label = QUESTIONS.get(name, "") + rows[theirs]["label"]
                for (measure, head), value in zip(MEASURES.items(), rows[theirs]["values"], strict=True):
                    yield Cell(stage, table, label, head, f"{block.block}_{ours}_{measure}", (value,), points)
    for ours, theirs in READING_ROWS.items():
        row = printed["table_7"]["rows"][theirs]
        tolerances = [deviations * spread for spread in row["deviations"]] if "deviations" in row else [points] * 2
        for name, value, tolerance in zip(("f1", "em"), row["values"], tolerances, strict=True):
            yield Cell("kvqae-read", "Table 7", row["label"], name.upper(), f"{ours}_{name}", (value,), tolerance)
    for number in printed["numbers"]:
        section, name = number["of"].split(".")
        value = printed[section]["values"][int(name) if name.isdecimal() else name]
        within = points if number.get("within") == "points" else number.get("within")
        place = number["stage"], number["table"], number["row"], "value", number["metric"]
        yield Cell(*place, (value,), within, number["unit"], number.get("why", ""), number.get("file", ""))


def _decorrelation(printed: Mapping[str, Any]) -> Iterator[Cell]:
    def cell(table: str, label: str, measure: str, metric: str, *expected: float) -> Cell:
        tolerance = printed["tolerances"]["recall" if "_r@" in metric else "odmap"]
        return Cell("decorrelation-evaluate", table, label, measure, metric, expected, tolerance)

    def label(dataset: str, row: str) -> str:
        model, _, variant = row.partition("_")
        return f"{DATASETS[dataset]}: {printed['models'][model]} {VARIANTS[variant]}"

    odmap = {f"synthetic_odmap@{k}": f"ODmAP@{k}" for k in printed["cutoffs"]}
    for dataset in ("coco", "flickr30k"):
        for row, paper in printed["table_1"][dataset].items():
            either = zip(*(paper[name] for name in ("values", "also") if name in paper), strict=True)
            for (name, head), values in zip(odmap.items(), either, strict=True):
                yield cell("Table 1", label(dataset, row), head, f"{dataset}_{row}_{name}", *dict.fromkeys(values))
        for row, paper in printed["table_2"][dataset].items():
            for side, said in DIRECTIONS.items():
                for k, value in zip(printed["cutoffs"], paper[side], strict=True):
                    yield cell("Table 2", label(dataset, row), f"R@{k}, {said}", f"{dataset}_{row}_{side}_r@{k}", value)
    for title, table, columns in (("Table 3", "table_3", odmap), ("Appendix B", "appendix_b", EQUAL_SIZES)):
        for row, paper in printed[table]["rows"].items():
            if "in_table_1" not in paper:  # else it stands there already
                for (name, head), value in zip(columns.items(), paper["values"], strict=True):
                    yield cell(title, paper["label"], head, f"coco_clip_{row}_{name}", value)
    for dataset, pairs in printed["synthetic_pairs"].items():
        train = f"decorrelation-train@{dataset}_clip_ours_0"
        yield Cell(train, "|D′|", DATASETS[dataset], "pairs", "synthetic_pairs", (float(pairs),), None, 1.0,
                   "how a removal is drawn is not said")  # fmt: skip


def _complexity(printed: Mapping[str, Any]) -> Iterator[Cell]:
    rows, factors, within = printed["table_1"]["rows"], printed["table_2"]["factors"], printed["tolerances"]
    for model, row in rows.items():
        table, (rouge_l, correct) = ("complexity-score", "Table 1", row["label"]), row["values"]
        yield Cell(*table, "ROUGE-L, %", f"{model}_rouge_l_paper", (100 * rouge_l,), within["rouge_l"])
        yield Cell(*table, "% correct", f"{model}_correct", (float(correct),), within["correct"], stem="judgements")
    for factor, value in zip(factors, printed["table_2"]["shares"], strict=True):
        table = "complexity-factors", "Table 2, shares", "% of the examples in E_f"
        yield Cell(*table, factor, f"{factor}_share", (float(value),), within["shares"][factor])
    for model, values in printed["table_2"]["rows"].items():
        for factor, value in zip(factors, values, strict=True):
            place = "complexity-validate", "Table 2", rows[model]["label"], f"δ of {factor}"
            yield Cell(*place, f"{model}_{factor}_delta_points", (float(value),), within["delta"][factor], 1.0,
                       is_floored=True)  # fmt: skip


def read_values(cells: list[Cell], metrics: Path = METRICS) -> dict[str, float]:
    """What a built graph has of these cells, in the paper's units."""
    files: dict[str, Any] = {cell.file: {} for cell in cells}
    files |= {name: read_json(metrics / name) for name in files if (metrics / name).exists()}
    values = {}
    for cell in cells:
        if (value := files[cell.file].get(cell.metric)) is not None:
            values[cell.key] = round(cell.unit * float(floor_points(value) if cell.is_floored else value), 2)
    return values


def tables(cells: Sequence[Cell], last: Mapping[str, Mapping[str, Any]]) -> dict[str, list[Table]]:
    """The tables of each pipeline, beside the `last` signed run of each scale."""
    made: dict[str, list[Table]] = {name: [] for name in PIPELINES}
    by_title: dict[tuple[str, str], list[Cell]] = {}
    for cell in cells:
        by_title.setdefault((cell.pipeline, cell.table), []).append(cell)
    for (pipeline, title), own in by_title.items():
        name = ARTICLES[pipeline].sections.get(title.lower().replace(" ", "-"), {}).get("title", title)
        stages, measures = ([*dict.fromkeys(getattr(cell, of) for cell in own)] for of in ("stage", "measure"))
        rows: dict[str, dict[str, str]] = {}
        for cell in own:
            rows.setdefault(cell.row, dict.fromkeys(measures, "–"))[cell.measure] = cell.summary(last)
        texts = [[label, *row.values()] for label, row in rows.items()]
        made[pipeline].append(Table(title, name, stages, measures, own, texts))
    return made


def read_log(folder: Path = LOG) -> list[dict[str, Any]]:
    """All entries, the oldest first; `BadInput` names a file that is no entry."""
    entries = []
    for file in sorted(folder.glob("*.json")):
        entry = read_json(file)
        for field in (*SIGNED, "values"):
            got = entry.get(field) if isinstance(entry, dict) else entry
            if not isinstance(entry, dict) or not isinstance(got, dict if field == "values" else str):
                expected = "what `trivium reproduced` writes"
                raise BadInput("not an entry of the log", file=file, field=field, got=got, expected=expected)
        for name, value in entry["values"].items():
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise BadInput("not an entry of the log", file=file, field=name, got=value, expected="a number")
        entries.append(entry)
    return entries


def last_signed(log: Sequence[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """The last entry of each scale, that of the papers first."""
    last = {entry["scale"]: entry for entry in log}
    return {scale: last[scale] for scale in sorted(last, key=lambda scale: (scale != "paper", scale))}


def reproduction_page(cells: Sequence[Cell], log: Sequence[Mapping[str, Any]], portable: Portable = "intel") -> str:
    """Render the reproduction matrix: every number of the papers beside the last signed one at each scale."""
    made = tables(cells, last_signed(log))
    return render_page("reproduction.html", portable, log=log, pipelines=PIPELINES, tables=made)


def summary(cells: list[Cell], log: list[dict[str, Any]]) -> str:
    """Markdown: the papers' tables, the command that computes each, and how many numbers the last runs have of it."""
    rows, scales = [], last_signed(log)
    for pipeline, of_paper in tables(cells, scales).items():
        for table in of_paper:
            commands = ", ".join(f"`dvc repro {stage}`" for stage in table.stages)
            last = {scale: sum(cell.key in entry["values"] for cell in table.cells) for scale, entry in scales.items()}
            signed = ", ".join(f"{_cell(scale)} {count}" for scale, count in last.items() if count)
            title = _cell(f"{PIPELINES[pipeline]}, {table.name}")
            rows.append([title, commands, str(len(table.cells)), signed or "–"])
    return markdown_table(["table", "command", "numbers", "signed"], rows)


def signatures(log: list[dict[str, Any]]) -> str:
    """Markdown: who ran what, where and when."""
    if not log:
        return "Nobody has signed a run on real data yet. `trivium reproduced` makes the first entry."
    rows = []
    for entry in log:
        date, scale, by, commit, machine, note = (_cell(entry[field]) for field in SIGNED)
        rows.append([date, f"`{scale}`", by, f"`{commit[:8]}`", machine, str(len(entry["values"])), note or "–"])
    return markdown_table(["date", "scale", "by", "commit", "machine", "numbers", "note"], rows)


def _cell(text: str) -> str:
    """What somebody wrote, as the text of a cell in Markdown."""
    return html.escape(" ".join(text.split()), quote=False).replace("|", "\\|")
