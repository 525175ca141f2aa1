"""Scoring in two stages (Li et al. 2022; decorrelation.md §4): embeddings choose candidates, matching rescores them.

The score of a candidate is the inner product of the embeddings plus the matching head's. What is no candidate stands
behind all candidates, in the order of the inner products.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from trivium.measures.recall import Ranks
from trivium.vision.neighbours import Ids, Scores

Match = Callable[[Sequence[Sequence[str]]], Sequence[NDArray[np.float32]]]  # scores of each picture with its texts


def match_captions(match: Match, texts: Sequence[str], first: tuple[Scores, Ids]) -> tuple[Scores, Ids]:
    """Score each picture's candidate captions again.

    Args:
        match: scores.
        texts: the gallery.
        first: candidates by `top_captions`, (pictures, k).

    Returns:
        scores (pictures, k) float32, highest first, and rows of the gallery; equal scores by lower row.
    """
    scores, rows = first
    again = scores + np.stack(match([[texts[row] for row in each] for each in rows]))
    order = np.lexsort((rows, -again), axis=1)
    return np.take_along_axis(again, order, 1), np.take_along_axis(rows, order, 1)


def match_pictures(match: Match, pictures: int, texts: Sequence[str], first: tuple[Scores, Ids]) -> tuple[Scores, Ids]:
    """Score each caption's candidate pictures again; each picture is looked at once, with all captions it is for.

    Args:
        match: scores.
        pictures: how many the gallery has.
        texts: the queries.
        first: candidates by `top_captions`, (texts, k) rows of the gallery.

    Returns:
        scores (texts, k) float32 and rows, in the order of `first`.
    """
    scores, rows = first
    asked: list[list[tuple[int, int]]] = [[] for _ in range(pictures)]
    for query, candidates in enumerate(rows.tolist()):
        for place, picture in enumerate(candidates):
            asked[picture].append((query, place))
    matched = match([[texts[query] for query, _ in each] for each in asked])
    again = scores.copy()
    for places, values in zip(asked, matched, strict=True):
        for (query, place), value in zip(places, values.tolist(), strict=True):
            again[query, place] += np.float32(value)
    return again, rows


def ranks_in_two_stages(
    first: Ranks, matched: tuple[Scores, Ids], query_owners: NDArray[np.int64], gallery_owners: NDArray[np.int64]
) -> Ranks:
    """Rank of each query's best own item; ties count against it.

    Args:
        first: ranks by the inner product alone: they stand where no own item is a candidate.
        matched: scores and rows of the candidates, (queries, k).
        query_owners, gallery_owners: labels.
    """
    scores, rows = matched
    own = gallery_owners[rows] == query_owners[:, None]
    best = np.where(own, scores, -np.inf).max(axis=1, keepdims=True)
    ranks = 1 + ((scores >= best) & ~own).sum(axis=1)
    return np.where(own.any(axis=1), ranks, first)
