"""What `import trivium` offers anybody who has ranked lists: measure, fuse, compare; thin over this room's rest."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from string import ascii_lowercase

import numpy as np
from numpy.typing import NDArray

from trivium.measures import fusion, ranking
from trivium.measures.runs import Qrels, Run
from trivium.measures.significance import fisher_randomization, superscripts

METHODS = ("linear", "rrf")


@dataclass(frozen=True)
class Comparison:
    """Several systems beside each other; printed, it is the table of a paper.

    Attributes:
        systems: their names, lettered a, b, c, … in this order.
        means: {measure: (systems,) mean over queries}.
        p: {measure: (systems, systems) p-values of Fisher's randomization test}.
        beaten: {measure: for each system the letters of those that it beats}.
    """

    systems: tuple[str, ...]
    means: Mapping[str, NDArray[np.float64]]
    p: Mapping[str, NDArray[np.float64]]
    beaten: Mapping[str, Sequence[str]]

    def __str__(self) -> str:
        width = max(map(len, self.systems)) + 3
        lines = [" " * width + "".join(f"  {name:<10}" for name in self.means)]
        for row, system in enumerate(self.systems):
            cells = (f"  {f'{self.means[name][row]:.3f} {self.beaten[name][row]}':<10}" for name in self.means)
            lines.append(f"{f'{ascii_lowercase[row]}  {system}':<{width}}" + "".join(cells))
        return "\n".join(line.rstrip() for line in lines)


def evaluate(qrels: Qrels, run: Run, measures: Iterable[str]) -> dict[str, float]:
    """Mean of each measure over the queries of the run; `trivium.measures.ranking.evaluate` gives a value a query.

    Args:
        qrels: judgements of the same queries.
        run: what a system ranked.
        measures: such as `mrr`, `map@5`, `precision@1` and `hits@20`.

    Raises:
        ValueError: unknown measure, no query at all, or run and qrels are about different queries.
    """
    return {name: float(values.mean()) for name, values in ranking.evaluate(run, qrels, measures).items()}


def fuse(
    runs: Sequence[Run],
    weights: Sequence[float] | None = None,
    *,
    method: str = "linear",
    normalization: str = "z_score",
    depth: int | None = None,
    name: str = "fused",
) -> Run:
    """One run of several.

    Args:
        runs: one a system, about the same queries.
        weights: of `linear`, one a system; None: all alike.
        method: `linear`, the weighted sum of normalised scores, or `rrf`, reciprocal rank fusion.
        normalization: of `linear`: `z_score`, `min_max` or `rank`.
        depth: documents kept a query; None keeps all.
        name: of the fused run.

    Raises:
        ValueError: unknown method or normalisation, weights that do not fit, or runs about different queries.
    """
    if method not in METHODS:
        raise ValueError(f"unknown method {method!r} (choices: {', '.join(METHODS)})")
    if method == "rrf":
        if weights is not None:
            raise ValueError("reciprocal rank fusion takes no weights")
        return fusion.reciprocal_rank_fusion(runs, depth=depth, name=name)
    shares = [1.0] * len(runs) if weights is None else weights
    return fusion.linear_fusion(runs, shares, depth=depth, normalization=normalization, name=name)


def compare(
    qrels: Qrels, runs: Sequence[Run], measures: Iterable[str], *, level: float = 0.01, seed: int = 0
) -> Comparison:
    """Measure several systems, and say which differences are more than chance.

    Args:
        qrels: judgements of the same queries.
        runs: one a system, with different names.
        measures: as in `evaluate`.
        level: of significance, of Fisher's randomization test.
        seed: of the test's draws.

    Raises:
        ValueError: two systems of one name, or see `evaluate`.
    """
    systems = tuple(run.name for run in runs)
    if len(set(systems)) < len(systems):
        raise ValueError(f"two systems of one name: {', '.join(map(repr, systems))}")
    measured = [ranking.evaluate(run.select(qrels.queries), qrels, list(measures)) for run in runs]
    values = {name: np.array([each[name] for each in measured]) for name in measured[0]}
    p = {name: fisher_randomization(each, seed=seed) for name, each in values.items()}
    return Comparison(
        systems,
        means={name: each.mean(axis=1) for name, each in values.items()},
        p=p,
        beaten={name: superscripts(each, p[name], level=level) for name, each in values.items()},
    )
