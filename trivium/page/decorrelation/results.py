"""Decorrelation's numbers as the page looks them up: by row of a table, set of queries and measure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from trivium.core.parameters import used_values
from trivium.core.tables import read_json
from trivium.decorrelation.matrix import Cell, groups, parse_cells
from trivium.decorrelation.models.kind import KINDS
from trivium.page.published import DATASETS

MAIN = tuple(  # those that the paper does not print, of a frozen CNN, are shown where they ran
    (model, variant)
    for model, variants in (
        ("vse", ("finetune", "ours")),
        ("vse_frozen", ("finetune", "ours")),
        ("clip", ("zero_shot", "finetune", "ours")),
        ("blip", ("zero_shot", "finetune", "ours")),
    )
    for variant in variants
)
EVERY_CELL = "thorough"  # the scale whose matrix holds every row of tables 1 and 2


@dataclass(frozen=True)
class Value:
    """A mean over queries and seeds in [0, 1], its spread over seeds, and its interval over pictures."""

    mean: float
    sd: float | None
    interval: tuple[float, float] | None


@dataclass(frozen=True)
class Results:
    """What stage evaluate found.

    Attributes:
        cells: the matrix.
        metrics: its flat metrics.
        comparisons: its rows of comparisons.json.
    """

    cells: Mapping[str, Cell]
    metrics: Mapping[str, float]
    comparisons: Sequence[Mapping[str, Any]]

    @property
    def groups(self) -> dict[str, Cell]:
        """{row: one of its cells}."""
        return {name: next(iter(members.values())) for name, members in groups(self.cells).items()}

    @property
    def datasets(self) -> list[str]:
        """Those with cells, in the order of the page."""
        used = {cell.dataset for cell in self.cells.values()}
        return [name for name in DATASETS if name in used]

    @property
    def models(self) -> list[str]:
        """Those with cells, in the order of the tables."""
        used = [cell.model for cell in self.cells.values()]
        return [name for name in dict.fromkeys([*(model for model, _ in MAIN), *used]) if name in used]

    def value(self, group: str, kind: str, measure: str) -> Value | None:
        """A row's value on a set of queries, None where it was not measured."""
        key = f"{group}_{kind}_{measure}"
        if key not in self.metrics:
            return None
        low, high = self.metrics.get(f"{key}_low"), self.metrics.get(f"{key}_high")
        interval = None if low is None or high is None else (low, high)
        return Value(self.metrics[key], self.metrics.get(f"{key}_sd"), interval)

    def seeds(self, group: str) -> int:
        """How many trainings a row is the mean of."""
        return len(groups(self.cells)[group])

    def by_seed(self, group: str, kind: str, measure: str) -> list[float]:
        """A row's value in each of its cells."""
        return [self.metrics[f"{name}_{kind}_{measure}"] for name in groups(self.cells)[group]]

    def skew(self, group: str) -> float:
        """Mean over the seeds of the k-occurrence skew of synthetic queries."""
        return float(np.mean(self.by_seed(group, "synthetic", "k_skew@10")))

    def comparison(self, **wanted: Any) -> Mapping[str, Any] | None:
        """The row of comparisons.json with these fields; `other_set` and `subset` as `set` and `all` if not given."""
        wanted = {"other_set": wanted["set"], "subset": "all"} | wanted
        found = [row for row in self.comparisons if all(row[name] == value for name, value in wanted.items())]
        return found[0] if found else None


def read_results(used: Path, evaluated: Path, comparisons: Path | None = None) -> Results:
    """What stage evaluate wrote, with the cells of a params.yaml; without comparisons where none are asked for."""
    cells = parse_cells(used_values(used, "decorrelation.cells"), used)
    return Results(cells, read_json(evaluated), read_json(comparisons) if comparisons else ())


def recipe(cell: Cell) -> str | None:
    """What makes D' in words of table 3, `none` for D alone; None for a cell that is no row of that table."""
    if cell.original != "all" or cell.steps != 1 or cell.variant == "zero_shot":
        return None
    if not cell.synthetic:
        return "none"
    return cell.recipe


def model_label(model: str) -> str:
    """What a kind of model is called in tables."""
    return KINDS[model].label


def shown(row: Mapping[str, Any], level: float) -> int:
    """1 or -1 when a row of comparisons.json shows a difference (p at most `level`, its interval without 0), else 0."""
    if row["low"] is None or row["p"] > level:
        return 0
    return int(row["low"] > 0) - int(row["high"] < 0)
