"""What decorrelation's numbers show: is the effect there, and is it not something else; every sentence is computed."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from markupsafe import Markup

from trivium.core.parameters import read_beside
from trivium.decorrelation.models.kind import KINDS
from trivium.page.decorrelation.results import LABELS, Results, find_sign
from trivium.page.html import render
from trivium.page.published import DATASETS
from trivium.page.thorough import claim_html, verdict

Comparison = Mapping[str, Any]  # a row of comparisons.json, or fields of one
Expected = Literal["more", "less", "same", "open"]  # what would speak for the method
GAIN_AND_COST = (("synthetic", "odmap@1"), ("image_to_text", "r@1"))  # sets of queries and measures
USUAL = {"dataset": "coco", "model": "clip", "set": "synthetic", "measure": "odmap@1", "subset": "all"}


class Check(NamedTuple):
    """A question, and the fields of the row of comparisons.json that answers it."""

    question: str
    expected: Expected
    fields: Comparison


def check(question: str, expected: Expected, variants: Sequence[str], **changes: str) -> Check:
    """A check of two variants on one set, or (`other_set`) of one variant on two sets: as USUAL but for changes."""
    fields = USUAL | {"variant": variants[0], "other_variant": variants[1]} | changes
    return Check(question, expected, {"other_set": fields["set"]} | fields)


CHECKS = [check(**row) for row in read_beside(__file__, "checks.yaml")]


def answer(row: Comparison, expected: Expected, level: float, margin: float) -> str:
    """One sentence: what a row of comparisons.json shows, where `margin` in [0, 1] still counts as the same."""
    sign, size = find_sign(row, level), f"{100 * abs(row['difference']):.1f} points"
    if row["low"] is None:
        return "From one picture: nothing can be said."
    reaches = f"{100 * max(abs(row['low']), abs(row['high'])):.1f} points"
    if expected == "same":
        if -margin <= row["low"] and row["high"] <= margin:
            return f"Yes, within {100 * margin:g} points." if sign == 0 else f"Nearly: differs by only {size}."
        if sign:
            return f"No: it {'gains' if sign > 0 else 'loses'} {size}."
        return f"Not shown to differ, but the interval reaches {reaches}."
    if sign == 0:
        if expected != "open":
            return "Not shown: the difference may be chance."
        return f"No difference is shown; the interval reaches {reaches}."
    direction = f"{'Higher' if sign > 0 else 'Lower'} by {size}."
    if expected == "open":
        return direction
    return ("Yes. " if sign == (1 if expected == "more" else -1) else "No, the reverse. ") + direction


def side(row: Comparison, other: str) -> str:
    """The row of the tables and the set that one side of a comparison is; `other` is empty or begins its fields."""
    name, kind = row[f"{other}variant"], row[f"{other}set"]
    variant = str(LABELS["variants"].get(name, name))
    if row["set"] == row["other_set"]:
        return variant
    zeroed = kind == "synthetic" and row["variant"] == "zero"
    return f"{variant}, {'zero boxes' if zeroed else LABELS['sets'][kind]}"


def first_claim_html(results: Results, level: float, margin: float) -> Markup:
    """What decorrelation's page begins with: whether training with painted pictures makes CLIP look.

    It holds where ODmAP@1 rises and R@1 of whole pictures stays within `margin`.
    """
    sentence = (
        "A model that was also trained on pictures with something painted out guesses less often what usually stands "
        "there, and is as good on whole pictures."
    )
    gain, cost = (results.against_finetune(*column) for column in GAIN_AND_COST)
    if gain is None or cost is None:
        return claim_html(sentence)
    said = verdict(gain["difference"], gain["p"], level)
    if said == "holds" and abs(cost["difference"]) > margin:
        said = "does not hold"
    return claim_html(sentence, said, render("decorrelation_first_numbers.html", gain=gain, cost=cost))


def findings_html(results: Results, evaluate: Mapping[str, Any], level: float, margin: float) -> Markup:
    """The table of checks of what stage evaluate found with these parameters; what was not run says so.

    `level` is that of significance, `margin` the difference in [0, 1] below which two values count as the same.
    """
    gain, cost = (results.against_finetune(*column) for column in GAIN_AND_COST)
    lines = []
    for question, expected, fields in CHECKS:
        row = results.comparison(**fields)
        measure = LABELS["measures"][fields["set"]][fields["measure"]] + LABELS["subsets"][fields["subset"]]
        about = f"{KINDS[fields['model']].label}, {DATASETS[fields['dataset']]}: {measure}"
        said = answer(row, expected, level, margin) if row else ""
        sides = [side(row, ""), side(row, "other_")] if row else []
        lines.append((question, about, row, said, sides))
    return render(
        "decorrelation_findings.html", lines=lines, level=level, margin=margin, usual=evaluate["partner_probability"],
        confidence=evaluate["confidence"], gain=gain, cost=cost,
    )  # fmt: skip
