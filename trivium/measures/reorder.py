"""The lists of a run in the order of other scores, and what follows them: what every re-ranker ends with."""

import numpy as np
from numpy.typing import NDArray

from trivium.measures.runs import PADDING, Run


def first(run: Run, depth: int | None) -> Run:
    """The best `depth` documents of each list; None for all."""
    return Run(run.queries, run.documents[:, :depth], run.scores[:, :depth], run.name)


def reorder(run: Run, scores: NDArray[np.float64]) -> Run:
    """Each list sorted by these scores, highest first; equal scores keep the run's order.

    A document whose score equals the one before it gets the next lower float: a TREC file keeps scores, not ranks, and
    whoever reads it must find the same order.

    Args:
        run: the lists; what is in them stays.
        scores: (queries, depth), of the run's documents; anything where it is padded.

    Raises:
        ValueError: a document's score is not finite.
    """
    keys = np.where(run.documents == PADDING, np.inf, -scores)
    order = np.argsort(keys, axis=1, kind="stable")
    documents = np.take_along_axis(run.documents, order, axis=1)
    ranked = np.take_along_axis(np.where(run.documents == PADDING, np.nan, scores), order, axis=1)
    for rank in range(1, ranked.shape[1]):
        ranked[:, rank] = np.minimum(ranked[:, rank], np.nextafter(ranked[:, rank - 1], -np.inf))
    return Run(run.queries, documents, ranked, run.name)


def follow(head: Run, run: Run) -> Run:
    """The lists of `head`, then what else `run` holds, in its order.

    What follows takes the next lower floats below the head's last score, as `reorder` does with equal ones.

    Args:
        head: the first documents of each list of `run`, reordered.
        run: about the same queries, in the same order.
    """
    documents = np.concatenate([head.documents, run.documents[:, head.documents.shape[1] :]], axis=1)
    kept = np.where(head.documents == PADDING, np.nan, head.scores)
    scores = np.where(documents == PADDING, np.nan, np.pad(kept, ((0, 0), (0, documents.shape[1] - kept.shape[1]))))
    for rank in range(head.documents.shape[1], documents.shape[1]):
        below = np.nextafter(scores[:, rank - 1], -np.inf)
        scores[:, rank] = np.where(documents[:, rank] == PADDING, np.nan, below)
    return Run(run.queries, documents, scores, head.name)
