"""The weights of a linear fusion, by grid search on the simplex for the best mean reciprocal rank (kvqae.md §3)."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from trivium.measures.fusion import normalized_blocks, unit_sum, weighted_sum
from trivium.measures.runs import Qrels, Run, check_same_queries, look_up_grades

_CHUNK = 1 << 16  # fused scores in flight: half a MiB stays in cache


def simplex_grid(systems: int, step: float) -> NDArray[np.int64]:
    """Every way to share out 1 / step units among the systems, in lexicographic order.

    Units are whole numbers: sums of floats such as 0.1 miss 1 for some weightings. Four systems at step 0.1 give
    C(10 + 3, 3) = 286. `ValueError`: no system, or a step that does not divide 1. Returns (weightings, systems) units;
    divide by 1 / step for weights.
    """
    units = round(1 / step) if 0 < step <= 1 else 0
    if systems < 1 or units < 1 or abs(units * step - 1) > 1e-9:
        raise ValueError(f"expected at least one system and a step that divides 1, got {systems} and {step}")
    # Bars between the units: the gaps are the systems' shares.
    bars = np.array(list(combinations(range(units + systems - 1), systems - 1)), dtype=np.int64)
    edges = np.pad(bars, ((0, 0), (1, 1)), constant_values=((0, 0), (-1, units + systems - 1)))
    return np.diff(edges, axis=1) - 1


def search_weights(
    runs: Sequence[Run], qrels: Qrels, *, step: float, depth: int | None, normalization: str = "z_score"
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Try every weighting of the grid of this step; the values equal those of `linear_fusion` and `evaluate`.

    Returns (weightings, systems) weights in the grid's order, each row of sum 1, and (weightings,) mean reciprocal
    ranks of the fused runs. `argmax` of these takes the first of equally good weightings.
    """
    units = simplex_grid(len(runs), step)
    weights = units / units[0].sum()
    return weights, mean_reciprocal_ranks(runs, qrels, weights, depth=depth, normalization=normalization)


def mean_reciprocal_ranks(
    runs: Sequence[Run],
    qrels: Qrels,
    weights: NDArray[np.float64],
    *,
    depth: int | None,
    normalization: str = "z_score",
) -> NDArray[np.float64]:
    """MRR of the fused run for each of (weightings, systems) weights, scaled to sum 1, without sorting it.

    The first relevant document of a ranking is the relevant one with the highest score, of equal ones that with the
    lowest id; its rank is 1 + the number of candidates that score higher, or the same with a lower id. `ValueError`:
    candidates and qrels are about different queries, or as `gather`, `normalize` and `unit_sum`. Relevant documents at
    ranks below `depth` count 0; None looks at all candidates.
    """
    if runs:
        check_same_queries(runs[0].queries, qrels.queries, "the runs", "qrels")
    weights = np.stack([unit_sum(row) for row in weights])
    total = np.zeros(len(weights))
    for candidates, normalized in normalized_blocks(runs, normalization):
        relevant = look_up_grades(candidates.documents, qrels.select(candidates.queries)) > 0
        sizes = (candidates.documents >= 0).sum(axis=1)
        for query in np.flatnonzero(relevant.any(axis=1)):
            scores = np.ascontiguousarray(normalized[:, query, : sizes[query]])
            ranks = _first_ranks(scores, np.flatnonzero(relevant[query]), weights)
            total += np.where(ranks <= (depth or sizes[query]), 1.0 / ranks, 0.0)
    return total / len(qrels.queries)


def _first_ranks(
    scores: NDArray[np.float64], chosen: NDArray[np.int64], weights: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Rank of the first relevant candidate for each weighting; the sums are made as `linear_fusion` makes them.

    `scores` are (systems, n), normalised, of a query's candidates in ascending order of ids; `weights` have sum 1.
    """
    ranks = np.empty(len(weights), dtype=np.int64)
    chunk = max(1, _CHUNK // scores.shape[1])
    for start in range(0, len(weights), chunk):
        fused = weighted_sum(scores[:, None, :], weights[start : start + chunk].T[:, :, None])
        first = chosen[fused[:, chosen].argmax(axis=1)]
        best = np.take_along_axis(fused, first[:, None], axis=1)
        before = (fused > best) | ((fused == best) & (np.arange(scores.shape[1]) < first[:, None]))
        ranks[start : start + chunk] = 1 + np.count_nonzero(before, axis=1)
    return ranks
