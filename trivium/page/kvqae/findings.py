"""What KVQAE's numbers show, whichever way they go, and how well readers answer: Table 7, models behind an endpoint."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
from markupsafe import Markup

from trivium.core.parameters import read_beside
from trivium.page.figures import Point, draw_curves
from trivium.page.html import Row, decimal, percent, points, probability, render
from trivium.page.published import MEASURES, READING_LABELS, READING_ROWS
from trivium.page.thorough import Thorough, claim_html, dagger, measured_cell, verdict

LABELS = read_beside(__file__, "labels.yaml")
Comparison = Mapping[str, Any]  # of two rows of a block, as findings.yaml has it
_COMPARISONS = read_beside(__file__, "findings.yaml")
RETRIEVAL: dict[str, list[Comparison]] = _COMPARISONS["retrieval"]
RERANKING: dict[str, list[Comparison]] = _COMPARISONS["reranking"]


def sentence(
    names: Sequence[str], measure: str, values: Sequence[float], p: float, level: float, expected: str = "open"
) -> str:
    """`A beats B in M: x % → y %, +d points, p = …`, or what it does instead; and whether more was expected.

    `values` of both rows are in [0, 1]; `expected` of the first row is `above`, `significant`, or `open`.
    """
    difference = values[0] - values[1]
    shown, verb = p <= level and difference != 0, "equals"
    if difference:
        higher, lower = ("beats", "is beaten by") if shown else ("is above", "is below")
        verb = higher if difference > 0 else lower
    doubt = ", but not significantly" if difference and not shown else ""
    change = f"{percent(values[1])} % → {percent(values[0])} %, {points(difference) if difference else '0.0'} points"
    said = f"{names[0]} {verb} {names[1]} in {measure}{doubt}: {change}, p {probability(p)}."
    if expected == "open" or (difference > 0 and (expected == "above" or p <= level)):
        return said
    condition = f"with p ≤ {level:g}" if expected == "significant" else "to be above"
    return f"{said} Expected {condition}: does not hold here."


def compared(block: Mapping[str, Any], rows: Sequence[str], measure: str) -> tuple[list[float], float] | None:
    """The values of two rows of a block, and p of their paired test; None where one of them did not run."""
    places = {row["name"]: place for place, row in enumerate(block["rows"])}
    if not places.keys() >= set(rows):
        return None
    first, second = (places[name] for name in rows)
    values = [block["rows"][place]["values"][measure] for place in (first, second)]
    return values, block["p"][measure][first][second]


def retrieval_findings(blocks: Mapping[str, Any], comparisons: Sequence[Comparison], level: float) -> Markup:
    """A list of sentences about rows of blocks as `evaluate` and `evaluate_reranking` write them, if they exist."""
    sentences = []
    for pair in comparisons:
        measure, expected = pair["measure"], pair.get("expected", "open")
        if values_and_p := compared(blocks.get(pair["block"], {"rows": []}), pair["rows"], measure):
            said = sentence(pair["names"], MEASURES[measure], *values_and_p, level, expected)
            sentences.append(pair.get("where", "") + said)
    return render("kvqae_findings.html", sentences=sentences)


def reading_findings(metrics: Mapping[str, float], level: float) -> Markup:
    """A list of sentences about the pairs of rows whose exact match stage `read` compared."""
    sentences = []
    for pair in _COMPARISONS["reading"]:
        row, other = pair["rows"]
        p = metrics.get(f"{row}_over_{other}_em_p")
        if p is not None:
            values = metrics[f"{row}_em"], metrics[f"{other}_em"]
            sentences.append(sentence(pair["names"], "EM", values, p, level, pair.get("expected", "open")))
    return render("kvqae_findings.html", sentences=sentences)


def first_claim_html(blocks: Mapping[str, Any], level: float) -> Markup:
    """What KVQAE's page begins with: whether the picture finds passages that the question's words do not find."""
    claim = "Looking at the picture, too, finds the right passage more often than reading the question alone."
    values_and_p = compared(blocks["passage"], ("dpr_few_shot_image", "dpr_few_shot"), "mrr")
    if values_and_p is None:
        return claim_html(claim)
    (with_picture, without), p = values_and_p
    numbers = {"with_picture": with_picture, "without": without, "questions": blocks["passage"]["questions"], "p": p}
    said = verdict(with_picture - without, p, level)
    return claim_html(claim, said, render("kvqae_first_numbers.html", **numbers))


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
    metrics: Mapping[str, float], printed: Mapping[str, Any], rows: Mapping[str, str], seeds: int,
    thorough: Thorough | None = None,
) -> Markup:  # fmt: skip
    """Table 7: our rows, and the published ones beside them.

    Of one seed alone `thorough` stands beside ours. Below stand MRR and P@1 of BM25's lists that the TriviaQA rows
    read, where they were measured.
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
        spread = [f" ± {decimal(value)}" for value in theirs.get("deviations", ())] or ["", ""]
        cells += [decimal(value) + of for value, of in zip(theirs["values"], spread, strict=True)]
        lines.append(Row([theirs["label"], *cells]))
    paper = printed["triviaqa_initial"]
    lists = [metrics.get(f"triviaqa_initial_{measure}") for measure in paper["measures"]]
    return render("kvqae_reading.html", rows=lines, seeds=seeds, dagger=dagger(thorough), lists=lists,
                  paper=paper["values"])  # fmt: skip


def prompted_html(reader: Mapping[str, Any], metrics: Mapping[str, float]) -> Markup:
    """What a model behind an endpoint answered, as stage `read_prompted` told and measured it, and what it cost."""
    counts = [metrics.get("refused", 0), metrics.get("prompt_tokens"), metrics.get("completion_tokens")]
    cells = [*(percent(metrics[name]) for name in ("em", "f1", "contains")), *(decimal(count, 0) for count in counts)]
    sees = LABELS["sees"][reader["sees"]]
    return render("kvqae_prompted.html", row=Row(cells, "beyond"), reader=reader, sees=sees, metrics=metrics)


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
