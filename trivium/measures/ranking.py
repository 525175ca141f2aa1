"""Ranking measures, a value per query, with trec_eval's definitions.

A family of functions with one signature, picked by a name such as `mrr`, `precision@20`, `hits@20` or `map`. A query
without relevant document scores 0 and counts. Run and qrels must be about the same queries (as trec_eval's `-c`
counts them): complete a run with empty lists, or select queries, before measuring.
"""

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from trivium.measures.runs import Qrels, Run, relevance_matrix

Measure = Callable[[NDArray[np.bool_], NDArray[np.int64], int], NDArray[np.float64]]
"""(queries,) values in [0, 1] of

- hits: (queries, depth) whether the document at each rank is relevant,
- relevant: (queries,) how many relevant documents there are, retrieved or not,
- cutoff: how many ranks are looked at.
"""


def reciprocal_rank(hits: NDArray[np.bool_], relevant: NDArray[np.int64], cutoff: int) -> NDArray[np.float64]:
    """1 / rank of the first relevant document, 0 without one; its mean over queries is the MRR."""
    hits = hits[:, :cutoff]
    return (hits / np.arange(1, hits.shape[1] + 1)).max(axis=1, initial=0.0)


def precision(hits: NDArray[np.bool_], relevant: NDArray[np.int64], cutoff: int) -> NDArray[np.float64]:
    """Relevant documents among the first `cutoff`, over `cutoff`, also when the list is shorter."""
    return hits[:, :cutoff].sum(axis=1) / cutoff


def hit(hits: NDArray[np.bool_], relevant: NDArray[np.int64], cutoff: int) -> NDArray[np.float64]:
    """1 if a relevant document is among the first `cutoff`, else 0 (trec_eval's success)."""
    return np.asarray(hits[:, :cutoff].any(axis=1), dtype=np.float64)


def average_precision(hits: NDArray[np.bool_], relevant: NDArray[np.int64], cutoff: int) -> NDArray[np.float64]:
    """Sum of the precisions at the ranks of relevant documents, over all relevant documents; its mean is the MAP."""
    hits = hits[:, :cutoff]
    precisions = np.cumsum(hits, axis=1) / np.arange(1, hits.shape[1] + 1)
    return (precisions * hits).sum(axis=1) / np.maximum(relevant, 1)


# Name → (function, whether the name must carry a cutoff).
MEASURES: dict[str, tuple[Measure, bool]] = {
    "mrr": (reciprocal_rank, False),
    "precision": (precision, True),
    "hits": (hit, True),
    "map": (average_precision, False),
}


def select_measure(name: str) -> tuple[Measure, int | None]:
    """The function and cutoff that a name such as `mrr` or `precision@20` stands for.

    Raises:
        ValueError: there is no such measure, or its cutoff is missing or not a whole number from 1.
    """
    base, at, cutoff = name.partition("@")
    if base not in MEASURES:
        choices = ", ".join(member + "@K" * needed for member, (_, needed) in MEASURES.items())
        raise ValueError(f"unknown measure {name!r} (choices: {choices})")
    function, needs_cutoff = MEASURES[base]
    if not at and not needs_cutoff:
        return function, None
    if not cutoff.isdecimal() or int(cutoff) < 1:
        raise ValueError(f"measure {name!r} needs a cutoff K ≥ 1, as in '{base}@20'")
    return function, int(cutoff)


def evaluate(run: Run, qrels: Qrels, names: Iterable[str]) -> dict[str, NDArray[np.float64]]:
    """Several measures of one run, `{name: value per query}` in the run's order of queries.

    Raises:
        ValueError: unknown measure, no query at all, or run and qrels are about different queries.
    """
    selected = {name: select_measure(name) for name in names}
    if not run.queries:
        raise ValueError(f"run {run.name!r} has no query: nothing to measure")
    hits = relevance_matrix(run, qrels)
    depth = hits.shape[1]
    relevant = np.array([len(ids) for ids in qrels.select(run.queries).relevant], dtype=np.int64)
    return {name: measure(hits, relevant, cutoff or depth) for name, (measure, cutoff) in selected.items()}


def means(values: dict[str, NDArray[np.float64]], prefix: str) -> dict[str, float]:
    """Flat metrics `{prefix}_{measure}: mean over queries`."""
    return {f"{prefix}_{name}": float(per_query.mean()) for name, per_query in values.items()}
