"""KVQAE's Table 7, the score by number of passages read, models behind an endpoint, and what makes questions hard."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from markupsafe import Markup

from trivium.page.figures import curves
from trivium.page.html import Cell, Row, between, decimal, figure, percent, published, render, signed, small, table
from trivium.page.published import READING_ROWS, agreement, tolerances_of
from trivium.page.thorough import Thorough, dagger, measured_cell

# Rows in their order; a label where the paper has no such row.
ROWS = {
    "zero_shot_fused": "",
    "zero_shot_reranked": "",
    "zero_shot_reranked_weighted": "",
    "few_shot_text": "few-shot, top 5 of text-only retrieval (D_f)",
    "few_shot_fused": "",
    "few_shot_fused_weighted": "few-shot, top 5 of retrieval, weighted",
    "few_shot_reranked": "",
    "few_shot_fused_chosen": "few-shot, initial list, number of passages chosen on validation",
    "few_shot_reranked_chosen": "few-shot, re-ranked, number of passages chosen on validation",
    "few_shot_reranked_weighted": "",
    "few_shot_max_reranked": "few-shot, max-pooled loss, top 5 re-ranked",
    "few_shot_fused_semi_oracle": "few-shot, semi-oracle from the initial list",
    "few_shot_semi_oracle": "",
    "few_shot_fused_full_oracle": "few-shot, full oracle from the initial list",
    "few_shot_full_oracle": "",
    "triviaqa": "",
    "triviaqa_weighted": "",
}
SEES = {"passages": "passages", "picture": "the picture", "both": "passages and the picture"}
SWEPT = {"few_shot_fused_chosen": "initial list", "few_shot_reranked_chosen": "re-ranked list"}


def rows_of(asked: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Our rows, then what else `kvqae.read.rows` asks for, said by its settings.

    Args:
        asked: {row: its settings}.
    """
    further = {}
    for name, row in asked.items():
        if name not in ROWS:
            number = row["passages"]
            passages = "number of passages chosen on validation" if number == "validation" else f"top {number}"
            oracle = f", {row['oracle']} oracle" if row.get("oracle", "none") != "none" else ""
            weighted = ", weighted" if row.get("weighted") else ""
            further[name] = (
                f"{name}: {row['model'].replace('_', ' ')} reader on {row['run']}, {passages}{oracle}{weighted}"
            )
    return ROWS | further


def reading_html(
    metrics: Mapping[str, float],
    printed: Mapping[str, Any],
    rows: Mapping[str, str],
    seeds: int,
    *,
    sample: bool = True,
    thorough: Thorough | None = None,
) -> Markup:
    """Table 7: our rows, and the published ones beside them, with a verdict unless ours are of a sample world.

    Of one seed alone `thorough` stands beside ours, what `make thorough` gave with several.
    """
    thorough = thorough if seeds == 1 else None
    lines = []
    for name, label in rows.items():
        theirs = printed["table_7"]["rows"][READING_ROWS[name]] if name in READING_ROWS else None
        verdict = None
        if theirs and f"{name}_f1" in metrics:
            ours = [100 * metrics[f"{name}_{key}"] for key in ("f1", "em")]
            tolerances = tolerances_of(theirs, printed["tolerances"])
            verdict = agreement(ours, [theirs["values"]], tolerances, sample=sample)
        heading = Markup("{}{}").format(theirs["label"] if theirs else label, small(verdict and f"paper: {verdict}"))
        cells = [measured_cell(metrics, f"{name}_{key}", thorough) for key in ("f1", "em")]
        lines.append(Row([heading, *cells, *_published(theirs)], "" if theirs else "beyond"))
    caption = render("kvqae_reading_caption.html", seeds=seeds)
    found = table(["Reader and input", "F1", "EM", *published("F1", "EM")], lines, caption) + dagger(thorough)
    return found + _lists_read(metrics, printed, sample=sample)


def _published(row: Mapping[str, Any] | None) -> list[str]:
    if row is None:
        return ["–", "–"]
    deviations = [f" ± {decimal(value)}" for value in row.get("deviations", ())] or ["", ""]
    return [decimal(value) + spread for value, spread in zip(row["values"], deviations, strict=True)]


def _lists_read(metrics: Mapping[str, float], printed: Mapping[str, Any], *, sample: bool) -> Markup:
    """MRR and P@1 of BM25's lists that the rows about TriviaQA read; nothing where they were not measured."""
    paper = printed["triviaqa_initial"]
    names = [f"triviaqa_initial_{measure}" for measure in paper["measures"]]
    if not metrics.keys() >= set(names):
        return Markup()
    ours = [100 * metrics[name] for name in names]
    verdict = agreement(ours, [paper["values"]], [printed["tolerances"]["points"]] * len(ours), sample=sample)
    text = (
        "What the TriviaQA rows read, BM25’s lists of the questions behind the test set: MRR {} %, P@1 {} %; in the "
        "paper, on its data, {} % and {} %{}."
    )
    said = f" ({verdict})" if verdict else ""
    return Markup(f"<p>{text}</p>\n").format(*map(decimal, ours), *map(decimal, paper["values"]), said)


def prompted_html(reader: Mapping[str, Any], metrics: Mapping[str, float]) -> Markup:
    """What a model behind an endpoint answered: its words as they are, measured, and what they cost.

    Args:
        reader: what stage `read_prompted` says of the model.
        metrics: of the stage.
    """
    caption = render("kvqae_prompted_caption.html", reader=reader, sees=SEES[reader["sees"]], metrics=metrics)
    counts = [metrics.get("refused", 0), metrics.get("prompt_tokens"), metrics.get("completion_tokens")]
    cells = [*(percent(metrics[name]) for name in ("em", "f1", "contains")), *(decimal(count, 0) for count in counts)]
    columns = ["EM", "F1", "holds an answer", "without an answer", "tokens read", "tokens written"]
    return table(columns, [Row(cells, "beyond")], caption, heading=None)


def sweep_html(swept: pa.Table) -> Markup:
    """How many passages to read: validation EM and F1 by their number, of each row whose number is chosen so."""
    lines = {}
    for row in dict.fromkeys(swept["row"].to_pylist()):
        points = swept.filter(pc.equal(swept["row"], row))
        for name, label in (("em", "EM"), ("f1", "F1")):
            values = [100 * value for value in points[name].to_pylist()]
            lines[f"{label}, {SWEPT.get(row, row)}"] = (points["passages"].to_pylist(), values)
    caption = (
        "Each row of the table “number of passages chosen on validation” takes the number with the best EM on "
        "validation, tried on the row’s own list; every other row reads a fixed number. The paper finds 5 clearly best."
    )
    title = "Passages read at inference, validation questions"
    return figure(curves(lines, title=title, xlabel="passages", ylabel="%"), caption)


def difficulty_html(rows: Sequence[Mapping[str, Any]], metrics: Mapping[str, float], confidence: float) -> Markup:
    """Which factors make questions hard for the reader: rows and metrics of stage difficulty."""
    lines = [
        [
            row["factor"].replace("_", " "),
            row["yes"],
            row["no"],
            Cell(_delta(row), "validated" if row["validated"] else ""),
            between(row["low"], row["high"]),
            decimal(row["p"], 4),
            decimal(row["p_holm"], 4),
            signed(row["joint"], 1),
            between(row["joint_low"], row["joint_high"]),
        ]
        for row in rows
    ]
    columns = ["Factor", "yes", "no", "δ", "interval", "p", "p Holm", "all together", "interval"]
    caption = (
        "δ in points of F1: ↓ lower where the factor holds, * significantly (Mann-Whitney), ** also after Holm’s "
        f"correction. Intervals: {percent(confidence, 0)} %, over entities."
    )
    return render("kvqae_difficulty.html", metrics=metrics, table=table(columns, lines, caption, style="effects"))


def _delta(row: Mapping[str, Any]) -> str:
    if row["delta"] is None:
        return "–"
    stars = "**" if row["holm_significant"] else "*" * bool(row["significant"])
    return signed(row["delta"], 1) + "↓" * bool(row["validated"]) + stars
