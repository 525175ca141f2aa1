"""Retrieval between pictures and captions: ODmAP@k, the rank of the best own item, R@k, hubness.

ODmAP@k says whether the sentences retrieved for a picture name what was removed from it (decorrelation.md §3). Captions
are rows of `named`, (captions, classes): whether a noun phrase of the caption matches the class. Rankings are (queries,
depth) of such rows, best first.

For R@k (decorrelation.md §5) queries and gallery items belong to owners: image to text, the owner of a caption is its
picture, and a hit is any of the picture's captions; text to image, every picture is its own. Ties count against the
query: an item of another owner that scores the same ranks before.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trivium.measures.ranking import average_precision

Ranked = NDArray[np.int64]
Flags = NDArray[np.bool_]
Ranks = NDArray[np.int64]
_SCORES = 1 << 24  # scores in memory


def odmap(
    ranked: Ranked, named: Flags, removed: Flags, remaining: Flags, cutoffs: Iterable[int]
) -> dict[int, NDArray[np.float64]]:
    """{k: ODmAP@k of every query}; its mean over queries is the figure of the tables.

    `(1/k) Σ_{i≤k} P@i · rel_i`, as Musgrave et al. 2020 take it with k for the number of relevant. A caption is
    correct if it names no removed class and at least one that remains. `ValueError`: k out of range; the gallery may be
    smaller than k.

    Args:
        removed: (queries, classes) the classes that went from the picture.
        remaining: (queries, classes) the classes that are still in it.
    """
    correct = ~names_any(ranked, named, removed) & names_any(ranked, named, remaining)
    values = {}
    for k in cutoffs:
        if not 1 <= k <= correct.shape[1]:
            raise ValueError(f"k should be from 1 to the {correct.shape[1]} sentences retrieved, got {k}")
        values[k] = average_precision(correct, np.full(len(correct), k), k)
    return values


def names_any(ranked: Ranked, named: Flags, classes: Flags) -> Flags:
    """Whether each retrieved caption names any of its query's classes, (queries, depth)."""
    if ranked.size and not 0 <= ranked.min() <= ranked.max() < len(named):
        raise ValueError(f"rows from {ranked.min()} to {ranked.max()} of {len(named)} captions")
    return np.logical_or.reduce(named[ranked] & classes[:, None], axis=2)


def recall(ranks: Ranks, k: int) -> NDArray[np.float64]:
    """1 where the best own item is among the first k, else 0, (queries,); the mean is R@k."""
    return (ranks <= k).astype(np.float64)


def ranks_of_embeddings(
    queries: NDArray, gallery: NDArray, query_owners: ArrayLike, gallery_owners: ArrayLike
) -> Ranks:
    """1 + the number of items of other owners whose inner product is at least that of the best own one, (queries,).

    Products are computed in float64 and rounded to float32. So equal vectors tie, and the ranks do not depend on how
    the product was cut. Queries are (queries, width), the gallery (items, width), perhaps memory-mapped float16; either
    may have several vectors, (…, sides, width), of which the best one counts. `ValueError`: a value that is not finite,
    or a query without an own item.
    """
    owners, of_gallery = np.asarray(query_owners), np.asarray(gallery_owners)
    vectors, items = _finite_sides(queries), _finite_sides(gallery)
    ranks = np.empty(len(vectors), dtype=np.int64)
    size = max(1, _SCORES // max(1, vectors.shape[1] * items.shape[1] * len(items)))
    for start in range(0, len(vectors), size):
        part = slice(start, start + size)
        scores = np.tensordot(vectors[part], items, axes=(2, 2)).astype(np.float32).max(axis=(1, 3))
        is_own = owners[part, None] == of_gallery
        if not is_own.any(axis=1).all():
            raise ValueError(f"query {start + is_own.any(axis=1).argmin()} has no item of its own in the gallery")
        best = np.where(is_own, scores, -np.inf).max(axis=1, keepdims=True)
        ranks[part] = 1 + ((scores >= best) & ~is_own).sum(axis=1)
    return ranks


def _finite_sides(vectors: NDArray) -> NDArray[np.float64]:
    """(n, sides, width) of (n, width), or of what has several sides already."""
    vectors = np.asarray(vectors, dtype=np.float64)
    if not np.isfinite(vectors).all():
        raise ValueError("NaN or infinite value in an embedding")
    return vectors[:, None] if vectors.ndim == 2 else vectors


def occurrence_skew(neighbours: ArrayLike, size: int) -> float:
    """S_{N_k} = E[(N_k - μ)³] / σ³, the skewness of N_k over the gallery; hubs make it large.

    N_k is how often a gallery item is among the k nearest of a query (Radovanović et al. 2010, §2). The skewness grows
    with the gallery, most of which is never retrieved: compare systems on the same one. 0 when all items occur equally
    often. `neighbours` are rows of the gallery, those of all queries, in any shape.
    """
    counts = np.bincount(np.asarray(neighbours, dtype=np.int64).ravel(), minlength=size).astype(np.float64)
    deviation = counts - counts.mean()
    variance = (deviation**2).mean()
    return float((deviation**3).mean() / variance**1.5) if variance > 0 else 0.0
