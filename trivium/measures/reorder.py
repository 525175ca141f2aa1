"""The lists of a run in the order of other scores, and what follows them: what every re-ranker ends with."""

import numpy as np
from numpy.typing import NDArray

from trivium.measures.runs import PADDING, Run
from trivium.measures.untie import untie


def first(run: Run, depth: int | None) -> Run:
    """The best `depth` documents of each list; None for all."""
    return Run(run.queries, run.documents[:, :depth], run.scores[:, :depth], run.name)


def reorder(run: Run, scores: NDArray[np.float64]) -> Run:
    """Each list sorted by these scores, highest first; equal scores keep the run's order.

    The scores of the result are those that a TREC file holds (`untie`): it keeps no ranks, and whoever reads it must
    find the same order.

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
    return Run(run.queries, documents, untie(ranked), run.name)


def follow(head: Run, run: Run) -> Run:
    """The lists of `head`, then what else `run` holds, in its order.

    What follows takes the next lower scores below the head's last one, as `reorder` does with equal ones.

    Args:
        head: the first documents of each list of `run`, reordered.
        run: about the same queries, in the same order.
    """
    width = head.documents.shape[1]
    documents = np.concatenate([head.documents, run.documents[:, width:]], axis=1)
    scores = np.pad(head.scores, ((0, 0), (0, documents.shape[1] - width)), mode="edge")
    return Run(run.queries, documents, untie(np.where(documents == PADDING, np.nan, scores)), head.name)
