"""KVQAE's Table 7, the score by number of passages read, models behind an endpoint, and what makes questions hard."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from markupsafe import Markup

from trivium.page.figures import curves
from trivium.page.html import Row, decimal, figure, percent, render, small
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


def rows_of(settings: Mapping[str, Any]) -> dict[str, str]:
    """{row: label}: our rows, then what else stands among the rows of `kvqae.read`, with its settings as label."""
    further = {}
    for name, row in settings["rows"].items():
        if name in ROWS:
            continue
        number = row.get("passages", settings.get("passages"))
        reader = f"{row['model'].replace('_', ' ')} reader on {row['run']}"
        passages = "number of passages chosen on validation" if number == "validation" else f"top {number}"
        oracle = f", {row['oracle']} oracle" if row.get("oracle", "none") != "none" else ""
        further[name] = f"{name}: {reader}, {passages}{oracle}{', weighted' if row.get('weighted') else ''}"
    return ROWS | further


def reading_html(
    metrics: Mapping[str, float], printed: Mapping[str, Any], rows: Mapping[str, str], seeds: int, *,
    sample: bool = True, thorough: Thorough | None = None,
) -> Markup:  # fmt: skip
    """Table 7: our rows, and the published ones beside them, with a verdict unless ours are of a sample world.

    Of one seed alone `thorough` stands beside ours, what `make thorough` gave with several. Below stand MRR and P@1 of
    BM25's lists that the rows about TriviaQA read, where they were measured.
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
        heading = (theirs["label"] if theirs else label) + small(verdict and f"paper: {verdict}")
        cells: list[Any] = [measured_cell(metrics, f"{name}_{key}", thorough) for key in ("f1", "em")]
        if theirs:
            spread = [f" ± {decimal(value)}" for value in theirs.get("deviations", ())] or ["", ""]
            cells += [decimal(value) + of for value, of in zip(theirs["values"], spread, strict=True)]
        lines.append(Row([heading, *cells], "") if theirs else Row([heading, *cells, "–", "–"], "beyond"))
    paper, points = printed["triviaqa_initial"], printed["tolerances"]["points"]
    values = [metrics.get(f"triviaqa_initial_{measure}") for measure in paper["measures"]]
    lists = [None if value is None else 100 * value for value in values]
    verdict = agreement(lists, [paper["values"]], [points] * len(lists), sample=sample)
    return render(
        "kvqae_reading.html", rows=lines, seeds=seeds, dagger=dagger(thorough), lists=lists, paper=paper["values"],
        verdict=verdict,
    )  # fmt: skip


def prompted_html(reader: Mapping[str, Any], metrics: Mapping[str, float]) -> Markup:
    """What a model behind an endpoint answered, as stage `read_prompted` told and measured it, and what it cost."""
    counts = [metrics.get("refused", 0), metrics.get("prompt_tokens"), metrics.get("completion_tokens")]
    cells = [*(percent(metrics[name]) for name in ("em", "f1", "contains")), *(decimal(count, 0) for count in counts)]
    row = Row(cells, "beyond")
    return render("kvqae_prompted.html", row=row, reader=reader, sees=SEES[reader["sees"]], metrics=metrics)


IDENTIFIED = {
    "retrieval": "retrieval alone",
    "identified": "the entity chosen by the model",
    "known": "the entity known",
    "full_oracle": "full oracle from retrieval",
}


def identified_html(reader: Mapping[str, Any], metrics: Mapping[str, float]) -> Markup:
    """Table 3's and Table 7's measures where a model chose the entity, beside retrieval alone and the oracles."""
    columns = ("mrr", "precision@1", "hits@20", "f1", "em")
    rows = [
        Row([label, *(percent(metrics.get(f"{name}_{column}")) for column in columns)], "beyond")
        for name, label in IDENTIFIED.items()
    ]
    return render("kvqae_identified.html", rows=rows, reader=reader, metrics=metrics)


def sweep_html(swept: pa.Table) -> Markup:
    """How many passages to read: validation EM and F1 by their number, of each row whose number is chosen so."""
    lines = {}
    for row in dict.fromkeys(swept["row"].to_pylist()):
        points = swept.filter(pc.equal(swept["row"], row))
        for name, label in (("em", "EM"), ("f1", "F1")):
            values = zip(points["passages"].to_pylist(), points[name].to_pylist(), strict=True)
            lines[f"{label}, {SWEPT.get(row, row)}"] = [(number, [100 * value], None) for number, value in values]
    caption = (
        "Each row of the table “number of passages chosen on validation” takes the number with the best EM on "
        "validation, tried on the row’s own list; every other row reads a fixed number. The paper finds 5 clearly best."
    )
    title = "Passages read at inference, validation questions"
    return figure(curves(lines, title=title, xlabel="passages", ylabel="%"), caption)


def difficulty_html(rows: Sequence[Mapping[str, Any]], metrics: Mapping[str, float], confidence: float) -> Markup:
    """Which factors make questions hard for the reader: rows and metrics of stage difficulty."""
    return render("kvqae_difficulty.html", factors=rows, metrics=metrics, confidence=confidence)
