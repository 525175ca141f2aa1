"""Fusion of several systems' ranked lists into one (kvqae.md §3): default minimum, normalisation, combination.

`P(d) = Σ_s α_s z_s(d)`. A document that a system did not return gets the system's minimum for this query, before
normalising. A system that returned nothing at all for a query contributes 0 to all its candidates. That rule also
carries the paper's routing `α_b B + α_d D + F α_a A + (1-F)(α_i I + α_c C)`: where no face is found (F = 0) the face
system's list is empty, where one is (F = 1) the lists of the systems on whole images are.

PosFuse (Lillis et al., SIGIR 2010) fuses by the probability that a document at a position is relevant,
`P(d) = Σ_s P_s(r_s(d))`, with `P_s(r)` the share of the training queries whose document at rank r of system s is
relevant, among those for which s returned that many documents.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trivium.measures.runs import PADDING, Qrels, Run, check_same_queries, relevance_matrix


@dataclass(frozen=True)
class Candidates:
    """The documents that any of the systems returned, aligned.

    Attributes:
        queries: query ids.
        documents: (queries, n) the union of the lists, ascending ids, -1 = padding at the row's end.
        scores: (systems, queries, n) float64; NaN where the system did not return the document.
        ranks: (systems, queries, n) int32, from 1 in the order of the system's list; 0 where not returned.
    """

    queries: tuple[str, ...]
    documents: NDArray[np.int64]
    scores: NDArray[np.float64]
    ranks: NDArray[np.int32]


def gather(runs: Sequence[Run]) -> Candidates:
    """Align the runs of several systems on the union of their documents, query by query.

    `ValueError`: no run, no query, or runs about different queries (`Run.complete` adds empty lists).
    """
    return next(gather_blocks(runs, queries=max((len(run.queries) for run in runs), default=1)))


def gather_blocks(runs: Sequence[Run], queries: int = 1024) -> Iterator[Candidates]:
    """As `gather`, but so many queries at a time: the union of a great many lists fits no memory."""
    if not runs or not runs[0].queries:
        raise ValueError("nothing to fuse: no run, or a run without query")
    first = runs[0].queries
    for run in runs[1:]:
        check_same_queries(first, run.queries, f"run {runs[0].name!r}", f"run {run.name!r}")
    runs = [run if run.queries == first else run.select(first) for run in runs]
    for start in range(0, len(first), queries):
        yield _align(runs, slice(start, start + queries))


def _align(runs: Sequence[Run], rows: slice) -> Candidates:
    queries = runs[0].queries[rows]
    widths = [run.documents.shape[1] for run in runs]
    system = np.repeat(np.arange(len(runs), dtype=np.int32), widths)
    rank = np.concatenate([np.arange(1, width + 1, dtype=np.int32) for width in widths])
    returned = np.concatenate([run.documents[rows] for run in runs], axis=1)
    scores = np.concatenate([run.scores[rows] for run in runs], axis=1)

    order = np.argsort(returned, axis=1, kind="stable")  # padding first
    ascending = np.take_along_axis(returned, order, axis=1)
    new = np.diff(ascending, axis=1, prepend=PADDING) != 0
    column = np.cumsum(new, axis=1) - 1
    shape = (len(queries), int(new.sum(axis=1).max(initial=0)))
    row, place = np.nonzero(ascending != PADDING)
    source, target = order[row, place], column[row, place]

    candidates = Candidates(
        queries,
        np.full(shape, PADDING, dtype=np.int64),
        np.full((len(runs), *shape), np.nan),
        np.zeros((len(runs), *shape), dtype=np.int32),
    )
    candidates.documents[row, target] = returned[row, source]
    candidates.scores[system[source], row, target] = scores[row, source]
    candidates.ranks[system[source], row, target] = rank[source]
    return candidates


def _default_minimum(candidates: Candidates) -> NDArray[np.float64]:
    """Scores with each system's minimum for the query where it did not return a document; NaN where no list."""
    lowest = np.fmin.reduce(candidates.scores, axis=2, initial=np.nan, keepdims=True)
    filled = np.where(np.isnan(candidates.scores), lowest, candidates.scores)
    return np.where(candidates.documents == PADDING, np.nan, filled)


@dataclass(frozen=True)
class Scale:
    """Mean and standard deviation that standardise one system's scores."""

    mean: float
    deviation: float


def scales(blocks: Iterable[Candidates]) -> list[Scale]:
    """Each system's mean and standard deviation over its whole run, default minima included; (0, 1) without a list.

    Where the candidates of successive queries are divided into blocks changes no bit.
    """
    present: list[list[NDArray[np.float64]]] = []
    for candidates in blocks:
        filled = _default_minimum(candidates)
        present = present or [[] for _ in filled]
        for parts, system in zip(present, filled, strict=True):
            parts.append(system[~np.isnan(system)])
    return [scale_of(np.concatenate(parts)) for parts in present]


def scale_of(scores: NDArray[np.float64]) -> Scale:
    """Mean and standard deviation of scores; (0, 1) of none."""
    # Equal scores tell no documents apart; their computed deviation can be a rounding error instead of 0.
    deviation = scores.std() if len(scores) and np.ptp(scores) > 0 else 1.0
    return Scale(float(scores.mean()) if len(scores) else 0.0, float(deviation))


def standardize(candidates: Candidates, by: Sequence[Scale]) -> NDArray[np.float64]:
    """(x - μ) / σ, one scale a system; those of a run let a new question be scored as the questions of that run."""
    scores = _default_minimum(candidates)
    for system, scale in zip(scores, by, strict=True):
        system -= scale.mean
        system /= scale.deviation
    return np.nan_to_num(scores, nan=0.0)


def z_score(candidates: Candidates) -> NDArray[np.float64]:
    """(x - μ) / σ, one mean and standard deviation over a system's whole run, default minima included."""
    return standardize(candidates, scales([candidates]))


def min_max(candidates: Candidates) -> NDArray[np.float64]:
    """(x - min) / (max - min), per query and system; 0 for documents that it did not return."""
    scores = _default_minimum(candidates)
    lowest = np.fmin.reduce(scores, axis=2, initial=np.nan, keepdims=True)
    width = np.fmax.reduce(scores, axis=2, initial=np.nan, keepdims=True) - lowest
    return np.nan_to_num((scores - lowest) / np.where(width == 0, 1.0, width), nan=0.0)


def rank(candidates: Candidates) -> NDArray[np.float64]:
    """1 - (r - 1) / K for rank r in a list of K documents, per query and system; 1 / K for those not returned."""
    ranks = candidates.ranks
    length = ranks.max(axis=2, keepdims=True, initial=0)
    last = np.where(ranks == 0, length, ranks)
    listed = (length > 0) & (candidates.documents != PADDING)
    return np.where(listed, 1 - (last - 1) / np.maximum(length, 1), 0.0)


# Of candidates, to (systems, queries, n) scores, 0 where a system has no list or padding.
NORMALIZATIONS: dict[str, Callable[[Candidates], NDArray[np.float64]]]
NORMALIZATIONS = {"z_score": z_score, "min_max": min_max, "rank": rank}


def normalize(candidates: Candidates, name: str) -> NDArray[np.float64]:
    """Normalised scores (systems, queries, n) by the member of the family called `name`."""
    if name not in NORMALIZATIONS:
        raise ValueError(f"unknown normalisation {name!r} (choices: {', '.join(NORMALIZATIONS)})")
    return NORMALIZATIONS[name](candidates)


def normalized_blocks(runs: Sequence[Run], name: str) -> Iterator[tuple[Candidates, NDArray[np.float64]]]:
    """Some queries' candidates at a time with their normalised scores, as `gather` and `normalize` give them."""
    by = scales(gather_blocks(runs)) if name == "z_score" else None
    for candidates in gather_blocks(runs):
        yield candidates, normalize(candidates, name) if by is None else standardize(candidates, by)


def unit_sum(weights: ArrayLike) -> NDArray[np.float64]:
    """Weights scaled to sum 1, so that weights that are proportional give the same scores to the last bit.

    `ValueError`: a weight is negative or not finite, or all are 0.
    """
    weights = np.asarray(weights, dtype=np.float64)
    if not (np.isfinite(weights) & (weights >= 0)).all() or not weights.any():
        raise ValueError(f"weights should be ≥ 0, and one of them > 0, got {weights.tolist()}")
    return weights / math.fsum(weights)


def weighted_sum(normalized: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Σ_s weights[s] · normalized[s], added in the systems' order, never through a matrix product.

    Both are (systems, …) and broadcast. The weight search and the fused run must see the same floats, ties included,
    whatever their shapes; a BLAS product rounds differently from one shape to another.
    """
    fused = weights[0] * normalized[0]
    for weight, scores in zip(weights[1:], normalized[1:], strict=True):
        fused += weight * scores
    return fused


def linear_fusion(
    runs: Sequence[Run], weights: Sequence[float], *, depth: int | None, normalization: str = "z_score", name: str = ""
) -> Run:
    """Rank by the weighted sum of scores normalised by `z_score`, `min_max` or `rank`.

    There is one weight ≥ 0 a system, and only their proportions matter; a depth of None keeps all candidates.
    """
    if len(weights) != len(runs):
        raise ValueError(f"{len(runs)} runs, but {len(weights)} weights")
    shares = unit_sum(weights)
    blocks = normalized_blocks(runs, normalization)
    return _ranked(((candidates, weighted_sum(normalized, shares)) for candidates, normalized in blocks), depth, name)


def reciprocal_rank_fusion(runs: Sequence[Run], *, k: int = 60, depth: int | None, name: str = "") -> Run:
    """Rank by Σ_s 1 / (k + r_s(d)), over the systems that returned d (Cormack et al. 2009)."""
    if k < 0:
        raise ValueError(f"k should be ≥ 0, got {k}")
    parts = (
        (candidates, np.where(candidates.ranks > 0, 1.0 / (k + np.maximum(candidates.ranks, 1)), 0.0))
        for candidates in gather_blocks(runs)
    )
    return _ranked(((candidates, part.sum(axis=0)) for candidates, part in parts), depth, name)


def _ranked(scored: Iterable[tuple[Candidates, NDArray[np.float64]]], depth: int | None, name: str) -> Run:
    """One run of successive queries' candidates and their scores."""
    runs = [Run.from_scores(block.queries, block.documents, scores, depth=depth) for block, scores in scored]
    width = max(run.documents.shape[1] for run in runs)

    def joined(parts: Iterable[NDArray], padding: float) -> NDArray:
        wide = (np.pad(part, ((0, 0), (0, width - part.shape[1])), constant_values=padding) for part in parts)
        return np.concatenate(list(wide))

    queries = tuple(query for run in runs for query in run.queries)
    documents = joined((run.documents for run in runs), PADDING)
    return Run(queries, documents, joined((run.scores for run in runs), np.nan), name)


def position_probabilities(run: Run, qrels: Qrels) -> NDArray[np.float64]:
    """P(relevant | position), learned from the queries that have a list: (depth,) shares, up to the longest list.

    Nothing is smoothed. `ValueError`: run and qrels are about different queries.
    """
    returned = (run.documents != PADDING).sum(axis=0)
    depth = np.count_nonzero(returned)
    return relevance_matrix(run, qrels).sum(axis=0)[:depth] / returned[:depth]


def position_parts(candidates: Candidates, probabilities: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """The probability of each candidate's position in each system's list, (systems, queries, n).

    A system that did not return a document, or returned it beyond the positions it learned, gives 0. There is one
    array of `position_probabilities` a system.
    """
    parts = np.zeros(candidates.ranks.shape)
    for part, learned, ranks in zip(parts, probabilities, candidates.ranks, strict=True):
        of_rank = np.zeros(1 + max(len(learned), ranks.max(initial=0)))  # rank 0: not returned
        of_rank[1 : 1 + len(learned)] = learned
        part[:] = of_rank[ranks]
    return parts
