"""PosFuse: fusion by the probability that a document at a position is relevant (Lillis et al., SIGIR 2010).

`P(d) = Σ_s P_s(r_s(d))`, where `P_s(r)` is the share of the training queries whose document at rank r of system s is
relevant, among those for which s returned that many documents. Only positions count: any normalisation that keeps the
order of a list gives the same fused scores.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from trivium.measures.fusion import Candidates
from trivium.measures.runs import PADDING, Qrels, Run, relevance_matrix


def position_probabilities(run: Run, qrels: Qrels) -> NDArray[np.float64]:
    """P(relevant | position) of one system, learned from the queries that have a list.

    Args:
        run: lists of the training queries.
        qrels: relevant documents of the same queries.

    Returns:
        (depth,) shares, up to the longest list; nothing is smoothed.

    Raises:
        ValueError: run and qrels are about different queries.
    """
    returned = (run.documents != PADDING).sum(axis=0)
    depth = np.count_nonzero(returned)
    return relevance_matrix(run, qrels).sum(axis=0)[:depth] / returned[:depth]


def position_parts(candidates: Candidates, probabilities: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """The probability of each candidate's position in each system's list, (systems, queries, n).

    A system that did not return a document, or returned it beyond the positions it learned, gives 0.

    Args:
        candidates: of `gather`.
        probabilities: one a system, of `position_probabilities`.
    """
    parts = np.zeros(candidates.ranks.shape)
    for part, learned, ranks in zip(parts, probabilities, candidates.ranks, strict=True):
        of_rank = np.zeros(1 + max(len(learned), ranks.max(initial=0)))  # rank 0: not returned
        of_rank[1 : 1 + len(learned)] = learned
        part[:] = of_rank[ranks]
    return parts
