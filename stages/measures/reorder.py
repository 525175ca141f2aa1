"""The lists of a run in the order of other scores: what every re-ranker ends with."""

import numpy as np
from numpy.typing import NDArray

from stages.measures.runs import PADDING, Run


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
