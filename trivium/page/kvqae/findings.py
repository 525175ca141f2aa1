"""What KVQAE's numbers show, whichever way they go: every sentence is computed."""

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from trivium.core.parameters import read_beside
from trivium.page.html import percent, points, probability, render
from trivium.page.published import MEASURES
from trivium.page.thorough import claim_html, verdict

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


def retrieval_findings(blocks: Mapping[str, Any], comparisons: Sequence[Comparison], level: float) -> list[str]:
    """Sentences about rows of blocks as `evaluate` and `evaluate_reranking` write them, as far as they exist."""
    sentences = []
    for pair in comparisons:
        measure, expected = pair["measure"], pair.get("expected", "open")
        if values_and_p := compared(blocks.get(pair["block"], {"rows": []}), pair["rows"], measure):
            said = sentence(pair["names"], MEASURES[measure], *values_and_p, level, expected)
            sentences.append(pair.get("where", "") + said)
    return sentences


def reading_findings(metrics: Mapping[str, float], level: float) -> list[str]:
    """Sentences about the pairs of rows whose exact match stage `read` compared."""
    sentences = []
    for pair in _COMPARISONS["reading"]:
        row, other = pair["rows"]
        p = metrics.get(f"{row}_over_{other}_em_p")
        if p is not None:
            values = metrics[f"{row}_em"], metrics[f"{other}_em"]
            sentences.append(sentence(pair["names"], "EM", values, p, level, pair.get("expected", "open")))
    return sentences


def findings_html(sentences: Sequence[str], introduction: str = "") -> Markup:
    """The sentences as a list, after an introduction if there is one."""
    return render("kvqae_findings.html", sentences=sentences, introduction=introduction)


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
