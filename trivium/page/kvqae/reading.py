"""KVQAE's Table 7, the score by number of passages read, and models behind an endpoint."""

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
from markupsafe import Markup

from trivium.core.parameters import read_beside
from trivium.page.figures import Point, draw_curves
from trivium.page.html import Row, decimal, percent, render, small
from trivium.page.published import READING_LABELS, READING_ROWS, agreement, tolerances_of
from trivium.page.thorough import Thorough, dagger, measured_cell

LABELS = read_beside(__file__, "labels.yaml")


def rows_of(settings: Mapping[str, Any]) -> dict[str, str]:
    """{row: label}: our rows, then what else stands among the rows of `kvqae.read`, with its settings as label."""
    further = {}
    for name, row in settings["rows"].items():
        if name in READING_LABELS:
            continue
        number = row.get("passages", settings.get("passages"))
        reader = f"{row['model'].replace('_', ' ')} reader on {row['run']}"
        passages = "number of passages chosen on validation" if number == "validation" else f"top {number}"
        oracle = f", {row['oracle']} oracle" if row.get("oracle", "none") != "none" else ""
        further[name] = f"{name}: {reader}, {passages}{oracle}{', weighted' if row.get('weighted') else ''}"
    return READING_LABELS | further


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
        keys = [f"{name}_{measure}" for measure in ("f1", "em")]
        cells: list[Any] = [measured_cell(metrics, key, thorough) for key in keys]
        if theirs is None:
            lines.append(Row([label, *cells, "–", "–"], "beyond"))
            continue
        tolerances = tolerances_of(theirs, printed["tolerances"])
        verdict = agreement([*map(metrics.get, keys)], [theirs["values"]], tolerances, sample=sample)
        spread = [f" ± {decimal(value)}" for value in theirs.get("deviations", ())] or ["", ""]
        cells += [decimal(value) + of for value, of in zip(theirs["values"], spread, strict=True)]
        lines.append(Row([theirs["label"] + small(verdict and f"paper: {verdict}"), *cells]))
    paper, points = printed["triviaqa_initial"], printed["tolerances"]["points"]
    lists = [metrics.get(f"triviaqa_initial_{measure}") for measure in paper["measures"]]
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
    return render("kvqae_prompted.html", row=row, reader=reader, sees=LABELS["sees"][reader["sees"]], metrics=metrics)


def identified_html(reader: Mapping[str, Any], metrics: Mapping[str, float]) -> Markup:
    """Table 3's and Table 7's measures where a model chose the entity, beside retrieval alone and the oracles."""
    columns = ("mrr", "precision@1", "hits@20", "f1", "em")
    rows = [
        Row([label, *(percent(metrics.get(f"{name}_{column}")) for column in columns)], "beyond")
        for name, label in LABELS["identified"].items()
    ]
    return render("kvqae_identified.html", rows=rows, reader=reader, metrics=metrics)


def sweep_html(swept: pa.Table) -> Markup:
    """How many passages to read: validation EM and F1 by their number, of each row whose number is chosen so."""
    lines: dict[str, list[Point]] = {}
    for point in swept.to_pylist():
        row = LABELS["swept"].get(point["row"], point["row"])
        for name, label in (("em", "EM"), ("f1", "F1")):
            lines.setdefault(f"{label}, {row}", []).append((point["passages"], [100 * point[name]], None))
    title = "Passages read at inference, validation questions"
    return render("kvqae_sweep.html", drawn=draw_curves(lines, title=title, xlabel="passages", ylabel="%"))
