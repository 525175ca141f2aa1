"""The fusion weights by grid search for the best validation MRR, row by row (kvqae.md §3).

The constraint α_b = 0 or α_d = 0 of the paper's rows is in their systems: a row holds BM25 or DPR. The weights that the
fused runs were made with stand in `params.yaml`; this says whether they are the optimum and what is.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from trivium.kvqae.retrieval.fusion import ARTICLE_ROWS, ROWS, FuseParameters
from trivium.measures.runs import Qrels, Run
from trivium.measures.weight_search import mean_reciprocal_ranks, search_weights

Weightings = list[tuple[dict[str, float], float]]  # α of each system, validation MRR


def tune_row(
    runs: Mapping[str, Run], qrels: Qrels, used: Mapping[str, float], *, step: float, depth: int
) -> tuple[dict[str, Any], Weightings]:
    """Search one row's weights; those in use are measured beside the grid, on or off which they may be.

    Args:
        runs: of each system.
        qrels: of the validation split.
        used: the weight in use of each of the row's systems.
        step: of the grid.
        depth: of the fused run.

    Returns:
        The best weighting beside the one in use, and all that were tried.
    """
    ranked, weights = [runs[system].complete(qrels.queries) for system in used], np.array([list(used.values())])
    (used_mrr,) = mean_reciprocal_ranks(ranked, qrels, weights, depth=depth)
    search = search_weights(ranked, qrels, step=step, depth=depth)
    rows = (dict(zip(used, row, strict=True)) for row in search.weights.tolist())
    weightings = list(zip(rows, search.values.tolist(), strict=True))
    best, mrr = weightings[search.best]
    return {
        "weights": best,
        "mrr": mrr,
        "used_weights": dict(used),
        "used_mrr": float(used_mrr),
        "used_is_best": bool(used_mrr >= search.values.max() - 1e-12),
        "weightings": len(weightings),
    }, weightings


def tune(
    parameters: FuseParameters,
    passages: Mapping[str, Run],
    articles: Mapping[str, Run],
    passage_qrels: Qrels,
    article_qrels: Qrels,
    step: float,
) -> tuple[dict[str, dict[str, Any]], dict[str, Weightings]]:
    """What `tune_row` finds for every row, by the systems' validation runs of passages or of articles."""
    report, tried = {}, {}
    for row in (*ROWS, *sorted(parameters.weights.keys() - ROWS)):
        runs, qrels = (articles, article_qrels) if row in ARTICLE_ROWS else (passages, passage_qrels)
        used = dict(sorted(parameters.weights[row].items()))
        report[row], tried[row] = tune_row(runs, qrels, used, step=step, depth=parameters.depth)
    return report, tried


def tuning_metrics(report: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, float]]:
    """The report's numbers as flat metrics, the weights in use aside."""
    for row, values in report.items():
        for name, value in values.items():
            if name == "weights":
                yield from ((f"{row}_weight_{system}", weight) for system, weight in value.items())
            elif name != "used_weights":
                yield f"{row}_{name}", float(value)
