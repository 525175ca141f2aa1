"""Decorrelation's numbers as the page looks them up: by row of a table, set of queries and measure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from trivium.core.parameters import read_beside
from trivium.decorrelation.matrix import Cell, groups
from trivium.page.published import DATASETS

LABELS = read_beside(__file__, "labels.yaml")
MAIN = tuple(  # those that the paper does not print, of VSE++ untouched or from scratch, are shown where they ran
    (model, variant)
    for model in ("vse", "vse_scratch", "clip", "blip")
    for variant in ("zero_shot", "finetune", "ours")
    if (model, variant) != ("vse_scratch", "zero_shot")
)


@dataclass(frozen=True)
class Results:
    """What stage evaluate found: the matrix, its flat metrics, and the rows of comparisons.json."""

    cells: Mapping[str, Cell]
    metrics: Mapping[str, float]
    comparisons: Sequence[Mapping[str, Any]]

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

    def comparison(self, **fields: Any) -> Mapping[str, Any] | None:
        """The row of comparisons.json with these fields; `other_set` and `subset` are by default `set` and `all`."""
        items = ({"other_set": fields["set"], "subset": "all"} | fields).items()
        return next((row for row in self.comparisons if items <= row.items()), None)

    def against_finetune(self, kind: str, measure: str) -> Mapping[str, Any] | None:
        """The comparison of ours with finetuning on D, of CLIP on COCO."""
        fields = {"dataset": "coco", "model": "clip", "variant": "ours", "other_variant": "finetune"}
        return self.comparison(**fields, set=kind, measure=measure)


def recipe(cell: Cell) -> str | None:
    """What makes D' in words of table 3, `none` for D alone; None for a cell that is no row of that table."""
    if cell.original != "all" or cell.steps != 1 or cell.variant == "zero_shot":
        return None
    return cell.recipe if cell.synthetic else "none"


def find_sign(row: Mapping[str, Any], level: float) -> int:
    """Return 1 or -1 if a row of comparisons.json shows a difference (p ≤ `level`, its interval without 0), else 0."""
    if row["low"] is None or row["p"] > level:
        return 0
    return int(row["low"] > 0) - int(row["high"] < 0)
