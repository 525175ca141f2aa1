"""What captions in random order score: the expectation of ODmAP@k, exactly (decorrelation.md §3)."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from trivium.decorrelation.evaluation.queries import Gallery, Queries

_CHUNK = 1024  # queries at a time


def expected_precision(correct: NDArray[np.int64], gallery: int, k: int) -> NDArray[np.float64]:
    """E[(1/k) Σ_{i≤k} P@i · rel_i] over all orders of a gallery with so many correct sentences.

    With n correct among N: rank i is correct with probability p = n / N, and then each rank before it with
    q = (n - 1) / (N - 1); so E[P@i · rel_i] = (p / i) (1 + (i - 1) q).

    Args:
        correct: n of each query.
        gallery: N, at least k.
        k: cut-off, at least 1.
    """
    if not 1 <= k <= gallery:
        raise ValueError(f"k should be from 1 to the gallery's size {gallery}, got {k}")
    p = correct / gallery
    q = np.maximum(correct - 1, 0) / max(1, gallery - 1)
    ranks = np.arange(1, k + 1)
    return p * (1 / ranks).mean() + p * q * ((ranks - 1) / ranks).mean()


def correct_sentences(gallery: Gallery, queries: Queries) -> NDArray[np.int64]:
    """How many captions are correct for each query: they name no removed class, and at least one that is present.

    Captions that name the same classes are counted together, so that the work grows with the sets of classes that
    occur and not with the captions.
    """
    patterns, counts = np.unique(gallery.names, axis=0, return_counts=True)
    columns = patterns.T.astype(np.float32)
    found = np.empty(len(queries.ids), dtype=np.int64)
    for start in range(0, len(found), _CHUNK):
        part = slice(start, start + _CHUNK)
        named_removed = queries.removed[part].astype(np.float32) @ columns > 0
        named_present = queries.present[part].astype(np.float32) @ columns > 0
        found[part] = (named_present & ~named_removed) @ counts
    return found


def chance(gallery: Gallery, queries: Queries, cutoffs: Sequence[int]) -> dict[int, NDArray[np.float64]]:
    """{k: (queries,) expected ODmAP@k of a random order}."""
    correct = correct_sentences(gallery, queries)
    return {k: expected_precision(correct, len(gallery.ids), k) for k in cutoffs}
