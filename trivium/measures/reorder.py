"""The lists of a run in another order: by other scores, as a TREC file holds them, by article."""

import numpy as np
from numpy.typing import NDArray

from trivium.measures.runs import PADDING, Run


def untie(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Round scores to 32-bit floats that decrease strictly along each list, as float64.

    `u_1 = f(s_1)`, `u_r = min(f(s_r), the 32-bit float below u_(r-1))`, where f is the nearest 32-bit float: no score
    is lowered more than the order needs. Scores are (queries, depth), non-increasing in a row, and NaN at its end where
    padded, before and after. `ValueError`: a score is not finite in 32 bits.
    """
    padded = np.isnan(scores)
    with np.errstate(over="ignore"):
        rounded = np.where(padded, np.inf, scores).astype(np.float32)
    # Numbers that count 32-bit floats in their order; both zeros are 0.
    bits = np.abs(rounded).view(np.int32).astype(np.int64)
    numbers = np.where(rounded < 0, -bits, bits)
    places = np.arange(scores.shape[1])
    numbers = np.minimum.accumulate(numbers + places, axis=1) - places
    lowered = np.copysign(np.abs(numbers).astype(np.int32).view(np.float32), numbers).astype(np.float64)
    if not np.isfinite(lowered[~padded]).all():
        raise ValueError("a score is not finite as a 32-bit float")
    return np.where(padded, np.nan, lowered)


def reorder(run: Run, scores: NDArray[np.float64]) -> Run:
    """Each list sorted by these scores, highest first; equal scores keep the run's order.

    The scores of the result are those that a TREC file holds (`untie`): it keeps no ranks, and whoever reads it must
    find the same order. `scores` are (queries, depth), anything where the run is padded. `ValueError`: a document's
    score is not finite.
    """
    keys = np.where(run.documents == PADDING, np.inf, -scores)
    order = np.argsort(keys, axis=1, kind="stable")
    documents = np.take_along_axis(run.documents, order, axis=1)
    ranked = np.take_along_axis(np.where(run.documents == PADDING, np.nan, scores), order, axis=1)
    return Run(run.queries, documents, untie(ranked), run.name)


def follow(head: Run, run: Run) -> Run:
    """Append to the lists of `head` the documents of `run` behind them, in its order.

    They take the next lower scores below the head's last one, as `reorder` does with equal ones.
    """
    width = head.documents.shape[1]
    documents = np.concatenate([head.documents, run.documents[:, width:]], axis=1)
    scores = np.pad(head.scores, ((0, 0), (0, documents.shape[1] - width)), mode="edge")
    return Run(run.queries, documents, untie(np.where(documents == PADDING, np.nan, scores)), head.name)


def best_passages(run: Run, article_of: NDArray[np.int64]) -> Run:
    """The run over articles in which each article stands at the rank and score of its first passage.

    `article_of` is (passages,). `ValueError`: the run holds a passage that is not in it.
    """
    if run.documents.size and run.documents.max() >= len(article_of):
        raise ValueError(f"run {run.name!r} holds passage {run.documents.max()}, but there are {len(article_of)}")
    documents = np.full_like(run.documents, -1)
    scores = np.full_like(run.scores, np.nan)
    for row, (passages, values) in enumerate(zip(run.documents, run.scores, strict=True)):
        passages = passages[passages >= 0]
        articles = article_of[passages]
        first = np.sort(np.unique(articles, return_index=True)[1])
        documents[row, : len(first)] = articles[first]
        scores[row, : len(first)] = values[first]
    return Run(run.queries, documents, scores, run.name)
