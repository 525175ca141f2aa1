"""Retrieval with several right answers a query: the rank of the best own one, R@k; hubness.

Queries and gallery items belong to owners: image to text, the owner of a caption is its picture, and a hit is any of
the picture's captions; text to image, every picture is its own (decorrelation.md §5). Ties count against the query: an
item of another owner that scores the same ranks before.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

_QUERIES = 256  # at a time
_ITEMS = 1 << 14
_PAIRS = 1 << 15  # scored again at a time

Ranks = NDArray[np.int64]


def recall(ranks: Ranks, k: int) -> NDArray[np.float64]:
    """1 where the best own item is among the first k, else 0, (queries,); the mean is R@k."""
    return (ranks <= k).astype(np.float64)


def ranks_of_embeddings(
    queries: NDArray, gallery: NDArray, query_owners: ArrayLike, gallery_owners: ArrayLike
) -> Ranks:
    """1 + the number of items of other owners whose inner product is at least that of the best own one, (queries,).

    The matrix of all scores never stands in memory. A float32 matrix product decides where it is sure; scores nearer to
    the best own one than its rounding error are computed again in float64 and rounded to float32. So equal vectors tie,
    and the ranks do not depend on how the product was cut. `ValueError`: a value that is not finite, or a query without
    an own item.

    Args:
        queries: (queries, width) float.
        gallery: (items, width) float, may be memory-mapped float16.
    """
    owners, of_gallery = np.asarray(query_owners), np.asarray(gallery_owners)
    vectors = _finite(queries)
    best = _best_own(vectors, gallery, owners, of_gallery)
    lengths = np.linalg.norm(vectors, axis=1)
    ranks = np.ones(len(vectors), dtype=np.int64)
    for first in range(0, len(gallery), _ITEMS):
        items = _finite(gallery[first : first + _ITEMS])
        longest = np.linalg.norm(items, axis=1).max()
        for start in range(0, len(vectors), _QUERIES):
            part = slice(start, start + _QUERIES)
            # Bound on the error of a float32 inner product, and of the rounding of the best own score.
            error = (lengths[part] * longest * np.sqrt(items.shape[1]) * 2.0**-22)[:, None]
            above = vectors[part] @ items.T - best[part, None]
            ranks[part] += (above > error).sum(axis=1)  # an own item never is: `best` is their maximum
            query, item = np.nonzero(np.abs(above) <= error)
            query += start
            others = owners[query] != of_gallery[first + item]
            query, item = query[others], item[others]
            reached = _scores(vectors, items, query, item) >= best[query]
            ranks += np.bincount(query[reached], minlength=len(ranks))
    return ranks


def _best_own(
    vectors: NDArray[np.float32], gallery: NDArray, owners: NDArray, of_gallery: NDArray
) -> NDArray[np.float32]:
    order = np.argsort(of_gallery, kind="stable")
    begin, end = (np.searchsorted(of_gallery[order], owners, side) for side in ("left", "right"))
    best = np.empty(len(vectors), dtype=np.float32)
    for row, (first, last) in enumerate(zip(begin.tolist(), end.tolist(), strict=True)):
        if first == last:
            raise ValueError(f"query {row} has no item of its own in the gallery")
        items = _finite(gallery[order[first:last]])
        best[row] = _scores(vectors, items, np.full(len(items), row), np.arange(len(items))).max()
    return best


def _scores(
    vectors: NDArray[np.float32], items: NDArray[np.float32], query: NDArray[np.int64], item: NDArray[np.int64]
) -> NDArray[np.float32]:
    """Inner products of pairs, in float64, rounded to float32."""
    scores = np.empty(len(query), dtype=np.float32)
    for start in range(0, len(query), _PAIRS):
        part = slice(start, start + _PAIRS)
        scores[part] = np.einsum("ij,ij->i", vectors[query[part]], items[item[part]], dtype=np.float64)
    return scores


def _finite(vectors: NDArray) -> NDArray[np.float32]:
    vectors = np.asarray(vectors, dtype=np.float32)
    if not np.isfinite(vectors).all():
        raise ValueError("NaN or infinite value in an embedding")
    return vectors


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
