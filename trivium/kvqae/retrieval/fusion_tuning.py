"""The fusion weights by grid search for the best validation MRR, row by row (kvqae.md §3).

The constraint α_b = 0 or α_d = 0 of the paper's rows is in their systems: a row holds BM25 or DPR. Where `params.yaml`
gives weights, this says whether they are the optimum and what is; where it says `tuned`, the optimum is used.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from trivium.kvqae.retrieval.fusion import ARTICLE_ROWS, ROWS, TUNED, FuseAndTuneParameters
from trivium.measures.runs import Qrels, Run
from trivium.measures.weight_search import mean_reciprocal_ranks, search_weights

Weightings = list[tuple[dict[str, float], float]]  # α of each system, validation MRR


def tune_row(
    runs: Mapping[str, Run], qrels: Qrels, used: Mapping[str, float] | None, *, step: float, depth: int
) -> tuple[dict[str, Any], Weightings]:
    """Search one row's weights on validation by a grid of this step, for a fused run of this depth.

    `used` are the weights in use, on the grid or not; None uses the best.

    Returns:
        The best weighting beside the one in use, and all that were tried.
    """
    ranked = [run.complete(qrels.queries) for run in runs.values()]
    search = search_weights(ranked, qrels, step=step, depth=depth)
    rows = (dict(zip(runs, row, strict=True)) for row in search.weights.tolist())
    weightings = list(zip(rows, search.values.tolist(), strict=True))
    best, mrr = weightings[search.best]
    used_mrr = mrr
    if used is not None:
        alphas = np.array([[used[system] for system in runs]])
        (used_mrr,) = mean_reciprocal_ranks(ranked, qrels, alphas, depth=depth)
    return {
        "weights": best,
        "mrr": mrr,
        "used_weights": dict(used or best),
        "used_mrr": float(used_mrr),
        "used_is_best": bool(used_mrr >= search.values.max() - 1e-12),
        "weightings": len(weightings),
    }, weightings


def tune(
    parameters: FuseAndTuneParameters,
    rows: Mapping[str, Sequence[str]],
    passages: Mapping[str, Run],
    articles: Mapping[str, Run],
    passage_qrels: Qrels,
    article_qrels: Qrels,
) -> tuple[dict[str, dict[str, Any]], dict[str, Weightings]]:
    """Tune every row by `tune_row` on the systems' validation runs of passages, or of articles."""
    report, tried = {}, {}
    for row in (*ROWS, *sorted(rows.keys() - ROWS)):
        runs, qrels = (articles, article_qrels) if row in ARTICLE_ROWS else (passages, passage_qrels)
        own = {system: runs[system] for system in sorted(rows[row])}
        used = None if parameters.weights == TUNED else dict(sorted(parameters.weights[row].items()))
        report[row], tried[row] = tune_row(own, qrels, used, step=parameters.step, depth=parameters.depth)
    return report, tried


def tuning_metrics(report: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, float]]:
    """The report's numbers as flat metrics, the weights in use aside."""
    for row, values in report.items():
        for name, value in values.items():
            if name == "weights":
                yield from ((f"{row}_weight_{system}", weight) for system, weight in value.items())
            elif name != "used_weights":
                yield f"{row}_{name}", float(value)
