"""Retrieval with several right answers a query: the rank of the best own one, R@k; hubness.

Queries and gallery items belong to owners: image to text, the owner of a caption is its picture, and a hit is any of
the picture's captions; text to image, every picture is its own (decorrelation.md §5). Ties count against the query: an
item of another owner that scores the same ranks before.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

_SCORES = 1 << 24  # scores in memory

Ranks = NDArray[np.int64]


def recall(ranks: Ranks, k: int) -> NDArray[np.float64]:
    """1 where the best own item is among the first k, else 0, (queries,); the mean is R@k."""
    return (ranks <= k).astype(np.float64)


def ranks_of_embeddings(
    queries: NDArray, gallery: NDArray, query_owners: ArrayLike, gallery_owners: ArrayLike
) -> Ranks:
    """1 + the number of items of other owners whose inner product is at least that of the best own one, (queries,).

    Products are computed in float64 and rounded to float32. So equal vectors tie, and the ranks do not depend on how
    the product was cut. Queries are (queries, width), the gallery (items, width), perhaps memory-mapped float16.
    `ValueError`: a value that is not finite, or a query without an own item.
    """
    owners, of_gallery = np.asarray(query_owners), np.asarray(gallery_owners)
    vectors, items = _finite(queries), _finite(gallery)
    ranks = np.empty(len(vectors), dtype=np.int64)
    size = max(1, _SCORES // max(1, len(items)))
    for start in range(0, len(vectors), size):
        part = slice(start, start + size)
        scores = (vectors[part] @ items.T).astype(np.float32)
        is_own = owners[part, None] == of_gallery
        if not is_own.any(axis=1).all():
            raise ValueError(f"query {start + is_own.any(axis=1).argmin()} has no item of its own in the gallery")
        best = np.where(is_own, scores, -np.inf).max(axis=1, keepdims=True)
        ranks[part] = 1 + ((scores >= best) & ~is_own).sum(axis=1)
    return ranks


def _finite(vectors: NDArray) -> NDArray[np.float64]:
    vectors = np.asarray(vectors, dtype=np.float64)
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
