"""Ranking measures, a value per query, with trec_eval's definitions.

A family of functions with one signature, picked by a name such as `mrr`, `precision@20`, `ndcg@10` or `map`, or by that
of trec_eval or ir_measures. `hits@20` is trec_eval's success: 0 or 1, not a count as in ranx. A query without relevant
document scores 0 and counts. Run and qrels must be about the same queries (as trec_eval's `-c` counts them): complete
a run with empty lists, or select queries, before measuring.
"""

import re
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trivium.measures.runs import Qrels, Run, look_up_grades, relevance_matrix

Measure = Callable[[NDArray[Any], NDArray[np.int64], int], NDArray[np.float64]]
"""(queries,) values in [0, 1] of

- hits: (queries, depth) whether the document at each rank is relevant (nDCG: its grade),
- relevant: (queries,) how many relevant documents there are, retrieved or not (nDCG: (queries, n) the best grades),
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


def recall(hits: NDArray[np.bool_], relevant: NDArray[np.int64], cutoff: int) -> NDArray[np.float64]:
    """Relevant documents among the first `cutoff`, over all relevant documents."""
    return hits[:, :cutoff].sum(axis=1) / np.maximum(relevant, 1)


def ndcg(grades: NDArray[np.int64], ideal: NDArray[np.int64], cutoff: int) -> NDArray[np.float64]:
    """DCG over that of the best order, `DCG = Σ_r grade_r / log₂(r + 1)` (Järvelin & Kekäläinen 2002; trec_eval).

    Args:
        grades: (queries, depth) at each rank, 0 where not relevant.
        ideal: (queries, n) grades of all relevant documents, highest first, filled up with 0.
    """
    gained, best = (
        (matrix[:, :cutoff] / np.log2(np.arange(2, matrix[:, :cutoff].shape[1] + 2))).sum(axis=1)
        for matrix in (grades, ideal)
    )
    return np.divide(gained, best, out=np.zeros(len(gained)), where=best > 0)


# Name → (function, whether the name must carry a cutoff).
MEASURES: dict[str, tuple[Measure, bool]] = {
    "mrr": (reciprocal_rank, False),
    "precision": (precision, True),
    "recall": (recall, False),
    "hits": (hit, True),
    "map": (average_precision, False),
    "ndcg": (ndcg, False),
}
# What trec_eval, ir_measures and ranx call them, in small letters.
ALIASES = {
    "recip_rank": "mrr",
    "rr": "mrr",
    "p": "precision",
    "r": "recall",
    "success": "hits",
    "hit_rate": "hits",
    "ap": "map",
    "map_cut": "map",
    "ndcg_cut": "ndcg",
}


def select_measure(name: str) -> tuple[Measure, int | None]:
    """The function and cutoff that a name stands for: `mrr`, `precision@20`; also `recip_rank`, `P_20`, `nDCG@10`.

    `ValueError`: there is no such measure, or its cutoff is missing or not a whole number from 1.
    """
    parts = re.match(r"(.*?)(?:([@.]|_(?=\d))(.*))?$", name, re.DOTALL)
    assert parts is not None  # of any text
    base, mark, cutoff = parts[1].lower(), parts[2], parts[3]
    base = ALIASES.get(base, base)
    if base not in MEASURES:
        choices = ", ".join(member + "@K" * needed for member, (_, needed) in MEASURES.items())
        raise ValueError(f"unknown measure {name!r} (choices: {choices}, and what trec_eval and ir_measures call them)")
    function, needs_cutoff = MEASURES[base]
    if not mark and not needs_cutoff:
        return function, None
    if not cutoff or not cutoff.isdecimal() or int(cutoff) < 1:
        raise ValueError(f"measure {name!r} needs a cutoff K ≥ 1, as in '{base}@20'")
    return function, int(cutoff)


def evaluate(run: Run, qrels: Qrels, names: Iterable[str]) -> dict[str, NDArray[np.float64]]:
    """Several measures of one run, `{name: value per query}` in the run's order of queries.

    `ValueError`: unknown measure, no query at all, or run and qrels are about different queries.
    """
    selected = {name: select_measure(name) for name in names}
    if not run.queries:
        raise ValueError(f"run {run.name!r} has no query: nothing to measure")
    hits, judged = relevance_matrix(run, qrels), qrels.select(run.queries)
    relevant = np.array([len(ids) for ids in judged.relevant], dtype=np.int64)
    values = {}
    for name, (measure, cutoff) in selected.items():
        if measure is ndcg:
            ideal = np.zeros((len(relevant), relevant.max()), dtype=np.int64)
            for row, grades in enumerate(judged.grades):
                ideal[row, : len(grades)] = -np.sort(-grades)
            ranked = look_up_grades(run.documents, judged)
            values[name] = ndcg(ranked, ideal, cutoff or max(ranked.shape[1], ideal.shape[1]))
        else:
            values[name] = measure(hits, relevant, cutoff or hits.shape[1])
    return values


def means(values: dict[str, NDArray[np.float64]], prefix: str) -> dict[str, float]:
    """Flat metrics `{prefix}_{measure}: mean over queries`."""
    return {f"{prefix}_{name}": float(per_query.mean()) for name, per_query in values.items()}


def mean_reciprocal_rank(run: Run, qrels: Qrels) -> float:
    """Mean reciprocal rank over the queries of the qrels; 0 for one without a relevant document."""
    return float(evaluate(run, qrels, ["mrr"])["mrr"].mean())
