"""KVQAE's Table 7, the score by number of passages read, and what makes questions hard."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from trivium.page.agreement import agreement
from trivium.page.common import environment
from trivium.page.figures import curves
from trivium.page.thorough import Thorough


@dataclass(frozen=True)
class ReadingRow:
    """A row of the table: ours, and the paper's that it stands beside.

    Attributes:
        published: name of the paper's row, whose label it takes; None: the paper has none.
        label: where the paper has none.
    """

    published: str | None = None
    label: str = ""


READING_ROWS: dict[str, ReadingRow] = {
    "zero_shot_fused": ReadingRow("zero_shot_initial"),
    "zero_shot_reranked": ReadingRow("zero_shot_reranked"),
    "zero_shot_reranked_weighted": ReadingRow("zero_shot_weighted"),
    "few_shot_text": ReadingRow(label="few-shot, top 5 of text-only retrieval (D_f)"),
    "few_shot_fused": ReadingRow("few_shot_initial"),
    "few_shot_fused_weighted": ReadingRow(label="few-shot, top 5 of retrieval, weighted"),
    "few_shot_reranked": ReadingRow("few_shot_reranked"),
    "few_shot_fused_chosen": ReadingRow(label="few-shot, initial list, number of passages chosen on validation"),
    "few_shot_reranked_chosen": ReadingRow(label="few-shot, re-ranked, number of passages chosen on validation"),
    "few_shot_reranked_weighted": ReadingRow("few_shot_weighted"),
    "few_shot_max_reranked": ReadingRow(label="few-shot, max-pooled loss, top 5 re-ranked"),
    "few_shot_fused_semi_oracle": ReadingRow(label="few-shot, semi-oracle from the initial list"),
    "few_shot_semi_oracle": ReadingRow("few_shot_semi_oracle"),
    "few_shot_fused_full_oracle": ReadingRow(label="few-shot, full oracle from the initial list"),
    "few_shot_full_oracle": ReadingRow("few_shot_full_oracle"),
    "triviaqa": ReadingRow("triviaqa_bm25"),
    "triviaqa_weighted": ReadingRow("triviaqa_bm25_weighted"),
}


def rows_of(asked: Mapping[str, Mapping[str, Any]]) -> dict[str, ReadingRow]:
    """Our rows and the paper's, then what else `kvqae.read.rows` asks for, said by its settings.

    Args:
        asked: {row: its settings}.
    """
    further = {}
    for name, row in asked.items():
        if name not in READING_ROWS:
            number = row["passages"]
            passages = "number of passages chosen on validation" if number == "validation" else f"top {number}"
            oracle = f", {row['oracle']} oracle" if row.get("oracle", "none") != "none" else ""
            weighted = ", weighted" if row.get("weighted") else ""
            label = f"{name}: {row['model'].replace('_', ' ')} reader on {row['run']}, {passages}{oracle}{weighted}"
            further[name] = ReadingRow(label=label)
    return READING_ROWS | further


def tolerances_of(row: Mapping[str, Any], tolerances: Mapping[str, float]) -> list[float]:
    """How far F1 and EM may be from a published row, in points: by its standard deviations where it has some."""
    if "deviations" in row:
        return [tolerances["deviations"] * deviation for deviation in row["deviations"]]
    return [tolerances["points"]] * len(row["values"])


def reading_html(
    metrics: Mapping[str, float],
    published: dict[str, Any],
    rows: Mapping[str, ReadingRow],
    seeds: int,
    *,
    sample: bool = True,
    thorough: Thorough | None = None,
) -> str:
    """Table 7: our rows, and the published ones beside them, with a verdict unless ours are of a sample world.

    Of one seed alone `thorough` stands beside ours, what `make thorough` gave with several.
    """
    thorough = thorough if seeds == 1 else None
    table = published["table_7"]["rows"]
    shown = []
    for name, row in rows.items():
        values = None
        if f"{name}_f1" in metrics:
            keys = ("f1", "em", "f1_sd", "em_sd")
            values = {key: metrics.get(f"{name}_{key}") for key in keys}
        theirs = table[row.published] if row.published else None
        verdict = None
        if values and theirs:
            ours = [100 * metrics[f"{name}_{key}"] for key in ("f1", "em")]
            tolerances = tolerances_of(theirs, published["tolerances"])
            verdict = agreement(ours, [theirs["values"]], tolerances, sample=sample)
        label = theirs["label"] if theirs else row.label
        again = {key: thorough.mean(f"{name}_{key}") if thorough else None for key in ("f1", "em")}
        shown.append({"label": label, "ours": values, "again": again, "published": theirs, "verdict": verdict})
    lists = _lists_read(metrics, published, sample=sample)
    template = environment().get_template("reading_table.html")
    return template.render(rows=shown, seeds=seeds, lists=lists, thorough=thorough)


def _lists_read(metrics: Mapping[str, float], published: Mapping[str, Any], *, sample: bool) -> dict[str, Any] | None:
    """MRR and P@1, in %, of BM25's lists that the rows about TriviaQA read; None where they were not measured."""
    paper = published["triviaqa_initial"]
    names = [f"triviaqa_initial_{measure}" for measure in paper["measures"]]
    if not metrics.keys() >= set(names):
        return None
    ours = [100 * metrics[name] for name in names]
    verdict = agreement(ours, [paper["values"]], [published["tolerances"]["points"]] * len(ours), sample=sample)
    return {"ours": ours, "paper": paper["values"], "verdict": verdict}


SEES = {"passages": "passages", "picture": "the picture", "both": "passages and the picture"}


def prompted_html(reader: Mapping[str, Any], metrics: Mapping[str, float]) -> str:
    """What a model behind an endpoint answered: its words as they are, measured, and what they cost.

    Args:
        reader: what stage `read_prompted` says of the model.
        metrics: of the stage.
    """
    template = environment().get_template("kvqae_prompted.html")
    return template.render(reader=reader, sees=SEES[reader["sees"]], metrics=metrics)


SWEPT = {"few_shot_fused_chosen": "initial list", "few_shot_reranked_chosen": "re-ranked list"}


def sweep_html(table: pa.Table) -> str:
    """How many passages to read: validation EM and F1 by their number, of each row whose number is chosen so."""
    title = "Passages read at inference, validation questions"
    lines = {}
    for row in dict.fromkeys(table["row"].to_pylist()):
        points = table.filter(pc.equal(table["row"], row))
        for name, label in (("em", "EM"), ("f1", "F1")):
            values = [100 * value for value in points[name].to_pylist()]
            lines[f"{label}, {SWEPT.get(row, row)}"] = (points["passages"].to_pylist(), values)
    caption = (
        "Each row of the table “number of passages chosen on validation” takes the number with the best EM on "
        "validation, tried on the row’s own list; every other row reads a fixed number. The paper finds 5 clearly best."
    )
    drawn = curves(lines, title=title, xlabel="passages", ylabel="%")
    return f"<figure>{drawn}<figcaption>{caption}</figcaption></figure>"


def difficulty_html(rows: Sequence[Mapping[str, Any]], metrics: Mapping[str, float], confidence: float) -> str:
    """Which factors make questions hard for the reader: rows and metrics of stage difficulty."""
    template = environment().get_template("kvqae_difficulty.html")
    return template.render(rows=rows, metrics=metrics, confidence=confidence)
