"""Scoring in two stages (Li et al. 2022; decorrelation.md §4): embeddings choose candidates, matching rescores them.

The score of a candidate is the inner product of the embeddings plus the matching head's. What is no candidate stands
behind all candidates, in the order of the inner products.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from trivium.decorrelation.models.interface import RetrievalModel
from trivium.decorrelation.retrieval.encoding import ReadPictures, in_groups, scaled_pictures
from trivium.files.image_shards import Images
from trivium.measures.recall import Ranks
from trivium.vision.neighbours import Ids, Scores


def match_scores(
    model: RetrievalModel,
    images: Images,
    names: Sequence[str],
    texts: Sequence[Sequence[str]],
    batch_size: int,
    read: ReadPictures = scaled_pictures,
) -> list[NDArray[np.float32]]:
    """What the matching head says of each picture with each of its texts.

    Args:
        model: has a second stage.
        images, names: n pictures; read `batch_size` at a time.
        texts: n lists.
        read: gives the pictures.

    Returns:
        n arrays, as long as the lists.
    """
    assert model.match is not None
    rows = {name: row for row, name in enumerate(names)}
    found: list[NDArray[np.float32]] = [np.zeros(0, np.float32)] * len(names)
    for group in in_groups(read(model, images, names), batch_size):
        places = [rows[name] for name, _ in group]
        pixels = model.plain.standardised(np.stack([each for _, each in group]))
        scores = model.match(list(pixels), [texts[place] for place in places])
        for place, each in zip(places, scores, strict=True):
            found[place] = each
    return found


def match_captions(
    model: RetrievalModel,
    images: Images,
    names: Sequence[str],
    texts: Sequence[str],
    first: tuple[Scores, Ids],
    batch_size: int,
    read: ReadPictures = scaled_pictures,
) -> tuple[Scores, Ids]:
    """Score each picture's candidate captions again.

    Args:
        model, images, names, batch_size, read: see `match_scores`.
        texts: the gallery.
        first: candidates by `top_captions`, (pictures, k).

    Returns:
        scores (pictures, k) float32, highest first, and rows of the gallery; equal scores by lower row.
    """  # fmt: skip
    scores, rows = first
    matched = match_scores(model, images, names, [[texts[row] for row in each] for each in rows], batch_size, read)
    again = scores + np.stack(matched)
    order = np.lexsort((rows, -again), axis=1)
    return np.take_along_axis(again, order, 1), np.take_along_axis(rows, order, 1)


def match_pictures(
    model: RetrievalModel,
    images: Images,
    names: Sequence[str],
    texts: Sequence[str],
    first: tuple[Scores, Ids],
    batch_size: int,
    read: ReadPictures = scaled_pictures,
) -> tuple[Scores, Ids]:
    """Score each caption's candidate pictures again; each picture is looked at once, with all captions it is for.

    Args:
        model, images, names, batch_size, read: see `match_scores`; the pictures are the gallery.
        texts: the queries.
        first: candidates by `top_captions`, (texts, k) rows of `names`.

    Returns:
        scores (texts, k) float32 and rows, in the order of `first`.
    """  # fmt: skip
    scores, rows = first
    asked: list[list[tuple[int, int]]] = [[] for _ in names]
    for query, candidates in enumerate(rows.tolist()):
        for place, picture in enumerate(candidates):
            asked[picture].append((query, place))
    own = [[texts[query] for query, _ in each] for each in asked]
    matched = match_scores(model, images, names, own, batch_size, read)
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
