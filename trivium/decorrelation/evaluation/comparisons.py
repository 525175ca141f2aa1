"""Intervals of means, and tests of differences between two rows; both resample whole pictures."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field

from trivium.core.parameters import Parameters
from trivium.decorrelation.matrix import Cell
from trivium.measures.bootstrap import OPTIONS
from trivium.measures.significance import fisher_randomization


class EvaluateParameters(Parameters):
    """Section `decorrelation.evaluate`."""

    partner_probability: float = Field(
        ge=0, le=1, description="Least P(k | c) in training pictures for k to be called the partner of class c"
    )
    permutations: int = Field(ge=100, description="Sign vectors drawn by the randomization tests")
    confidence: float = Field(gt=0, lt=1, description="Of the bootstrap intervals")
    resamples: int = Field(ge=100, description="Bootstrap draws of pictures")
    seed: int = Field(ge=0, description="Of the tests' and the bootstrap's draws")


class PictureBootstrap:
    """Draws of pictures with replacement, made once and used for every mean over queries of these pictures.

    With S_g the sum and n_g the number of the values of picture g, drawn w_g times: `mean* = Σ w_g S_g / Σ w_g n_g`
    (Cameron, Gelbach & Miller 2008, §II). Means over the same draws can be compared.

    `pictures` are (queries,) the picture of each; the intervals are two-sided percentile intervals.
    """

    def __init__(
        self, pictures: Sequence[int] | NDArray[np.int64], *, confidence: float, resamples: int, seed: int
    ) -> None:
        names, self._member = np.unique(np.asarray(pictures), return_inverse=True)
        self._bounds = [(1 - confidence) / 2, (1 + confidence) / 2]
        self._drawn = _draws(len(names), resamples, seed).astype(np.float32)

    def interval(self, values: ArrayLike) -> tuple[float, float] | None:
        """(low, high) of the mean of (queries,) values but NaNs; None when they come from fewer than two pictures."""
        values = np.asarray(values, dtype=np.float64)
        finite = np.isfinite(values)
        width = self._drawn.shape[1]
        sizes = np.bincount(self._member[finite], minlength=width).astype(np.float64)
        if (sizes > 0).sum() < 2:
            return None
        sums = np.bincount(self._member[finite], weights=values[finite], minlength=width)
        drawn = self._drawn @ sizes
        means = (self._drawn @ sums)[drawn > 0] / drawn[drawn > 0]  # a small subset may be missed by a draw
        low, high = np.quantile(means, self._bounds)
        return float(low), float(high)


@lru_cache(maxsize=8)  # the sets of one data set are asked again for each cell
def _draws(pictures: int, resamples: int, seed: int) -> NDArray[np.uint16]:
    """(resamples, pictures), how often each is drawn."""
    even = np.full(pictures, 1 / max(1, pictures))
    return np.random.default_rng(seed).multinomial(pictures, even, size=resamples).astype(np.uint16)


WHOLE = "all"  # the subset that is every query
PAINTED = ("synthetic", "empty", "empty_image_to_text")  # sets whose pictures depend on the queries' filling
WITHIN = (("synthetic", "rendered"), ("empty_image_to_text", "image_to_text"))  # sets of one row that are compared


@dataclass(frozen=True)
class Measured:
    """The per-query values of one group of cells on one set of queries.

    Attributes:
        cell: any of the group.
        seeds: of the trainings, in order.
        queries: ids.
        pictures: (queries,) the picture that each was made from.
        subsets: {name: (queries,) member}, `all` first.
        values: {measure: (seeds, queries)}.
    """

    cell: Cell
    seeds: tuple[int, ...]
    queries: tuple[str, ...]
    pictures: NDArray[np.int64]
    subsets: Mapping[str, NDArray[np.bool_]]
    values: Mapping[str, NDArray[np.float64]]

    def by_query(self, measure: str) -> NDArray[np.float64]:
        """(queries,) means over the seeds."""
        return self.values[measure].mean(axis=0)


def compared_variants(variants: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Variants of one model and data set that are compared: each with `finetune`, and `ours` with each."""
    for variant in variants:
        if variant != "finetune" and "finetune" in variants:
            yield variant, "finetune"
        if variant not in ("ours", "finetune") and "ours" in variants:
            yield "ours", variant


def comparable(kind: str, left: Cell, right: Cell) -> bool:
    """Whether both were asked the same pictures of a set."""
    return kind not in PAINTED or left.queries == right.queries


def compare(left: Measured, right: Measured, parameters: EvaluateParameters) -> list[dict[str, Any]]:
    """Left minus right, for every measure and subset that both have, over their common queries.

    Values are means over the seeds. The randomization test (`fisher_randomization`) swaps all queries of a picture
    together, and the interval draws pictures: queries of one picture are not independent.

    Returns:
        Rows `measure`, `subset`, `queries`, `pictures`, `value`, `other_value`, `difference`, `low`, `high` (None from
        fewer than two pictures), `p`, and `difference_sd` over seeds (None unless both have the same two or more).
    """
    _, mine, theirs = np.intersect1d(left.queries, right.queries, return_indices=True)
    order = np.argsort(mine)
    mine, theirs = mine[order], theirs[order]
    measures = [name for name in left.values if name in right.values]
    pictures = left.pictures[mine]
    rows = []
    for subset, member in left.subsets.items():
        chosen = member[mine]
        if not chosen.any():
            continue
        bootstrap = PictureBootstrap(pictures[chosen], **parameters.model_dump(include=OPTIONS))
        ours, other = (
            np.stack([of.by_query(name)[rows_of][chosen] for name in measures])
            for of, rows_of in ((left, mine), (right, theirs))
        )
        p = _randomization(ours - other, pictures[chosen], parameters.permutations, parameters.seed)
        counts = {"queries": int(chosen.sum()), "pictures": len(np.unique(pictures[chosen]))}
        for name, a, b, p_value in zip(measures, ours, other, p, strict=True):
            low, high = bootstrap.interval(a - b) or (None, None)
            spread = _spread(left, right, name, mine[chosen], theirs[chosen])
            values = {"value": float(a.mean()), "other_value": float(b.mean()), "difference": float((a - b).mean())}
            tested = {"low": low, "high": high, "p": float(p_value), "difference_sd": spread}
            rows.append({"measure": name, "subset": subset, **counts, **values, **tested})
    return rows


def _randomization(
    differences: NDArray[np.float64], pictures: NDArray[np.int64], permutations: int, seed: int
) -> NDArray[np.float64]:
    """(measures,) p-values from (measures, queries) differences, whose signs change by picture."""
    _, member = np.unique(pictures, return_inverse=True)
    sums = [np.bincount(member, weights=row) for row in differences]
    # Beside a system of zeros, a row of differences is itself the difference that the test looks at.
    return fisher_randomization([*sums, np.zeros_like(sums[0])], permutations=permutations, seed=seed)[:-1, -1]


def _spread(
    left: Measured, right: Measured, measure: str, mine: NDArray[np.int64], theirs: NDArray[np.int64]
) -> float | None:
    """Standard deviation over seeds of the mean difference."""
    if left.seeds != right.seeds or len(left.seeds) < 2:
        return None
    means = (left.values[measure][:, mine] - right.values[measure][:, theirs]).mean(axis=1)
    return float(means.std(ddof=1))
