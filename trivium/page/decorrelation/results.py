"""Decorrelation's numbers as the page looks them up, and what they show: every sentence is computed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from markupsafe import Markup

from trivium.core.parameters import read_beside
from trivium.decorrelation.matrix import Cell, groups
from trivium.decorrelation.models.kind import KINDS
from trivium.page.html import render
from trivium.page.published import DATASETS
from trivium.page.thorough import claim_html, verdict

LABELS = read_beside(__file__, "labels.yaml")
CHECKS: list[dict[str, Any]] = read_beside(__file__, "checks.yaml")
MAIN = tuple(  # those that the paper does not print, of VSE++ untouched or from scratch, are shown where they ran
    (model, variant)
    for model in ("vse", "vse_scratch", "clip", "blip")
    for variant in ("zero_shot", "finetune", "ours")
    if (model, variant) != ("vse_scratch", "zero_shot")
)
GAIN_AND_COST = (("synthetic", "odmap@1"), ("image_to_text", "r@1"))  # sets of queries and measures
USUAL = {"dataset": "coco", "model": "clip", "set": "synthetic", "measure": "odmap@1", "subset": "all"}
Comparison = Mapping[str, Any]  # a row of comparisons.json


@dataclass(frozen=True)
class Results:
    """What stage evaluate found: the matrix, its flat metrics, and the rows of comparisons.json."""

    cells: Mapping[str, Cell]
    metrics: Mapping[str, float]
    comparisons: Sequence[Comparison]

    @cached_property
    def members(self) -> dict[str, dict[str, Cell]]:
        """{row: its cells by name, one a seed}."""
        return groups(self.cells)

    @cached_property
    def groups(self) -> dict[str, Cell]:
        """{row: one of its cells}."""
        return {name: next(iter(cells.values())) for name, cells in self.members.items()}

    @property
    def datasets(self) -> list[str]:
        """Those with cells, in the order of the page."""
        used = {cell.dataset for cell in self.cells.values()}
        return [name for name in DATASETS if name in used]

    def by_seed(self, group: str, kind: str, measure: str) -> list[float]:
        """The values of a row, one a cell."""
        return [self.metrics[f"{name}_{kind}_{measure}"] for name in self.members[group]]

    def comparison(self, **fields: Any) -> Comparison | None:
        """The row of comparisons.json with these fields; `other_set` is by default `set`, others are those of USUAL."""
        items = (USUAL | {"other_set": fields.get("set", USUAL["set"])} | fields).items()
        return next((row for row in self.comparisons if items <= row.items()), None)


def recipe(cell: Cell) -> str | None:
    """What makes D' in words of table 3, `none` for D alone; None for a cell that is no row of that table."""
    if cell.original != "all" or cell.steps != 1 or cell.variant == "zero_shot":
        return None
    return cell.recipe if cell.synthetic else "none"


def find_sign(row: Comparison, level: float) -> int:
    """Return 1 or -1 if a row of comparisons.json shows a difference (p ≤ `level`, its interval without 0), else 0."""
    if row["low"] is None or row["p"] > level:
        return 0
    return int(row["low"] > 0) - int(row["high"] < 0)


def answer(row: Comparison, expected: str, level: float, margin: float) -> str:
    """One sentence: what a row of comparisons.json shows, where `margin` in [0, 1] still counts as the same.

    `expected` is what would speak for the method: `more`, `less`, `same` or `open`.
    """
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
    variants = {"variant": "ours", "other_variant": "finetune"}
    gain, cost = (results.comparison(**variants, set=kind, measure=measure) for kind, measure in GAIN_AND_COST)
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
    lines = []
    for check in CHECKS:
        fields = USUAL | dict(zip(("variant", "other_variant"), check["variants"], strict=True))
        fields |= {name: check[name] for name in check.keys() - {"question", "expected", "variants"}}
        row = results.comparison(**fields)
        measure = LABELS["measures"][fields["set"]][fields["measure"]] + LABELS["subsets"][fields["subset"]]
        about = f"{KINDS[fields['model']].label}, {DATASETS[fields['dataset']]}: {measure}"
        said = answer(row, check["expected"], level, margin) if row else ""
        lines.append((check["question"], about, row, said, [side(row, other) for other in ("", "other_") if row]))
    return render("decorrelation_findings.html", lines=lines, level=level, margin=margin,
                  usual=evaluate["partner_probability"], confidence=evaluate["confidence"])  # fmt: skip
