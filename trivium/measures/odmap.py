"""ODmAP@k: whether the sentences retrieved for a picture name what was removed from it (decorrelation.md §3).

Captions are rows of `named`, (captions, classes): whether a noun phrase of the caption matches the class. Rankings are
(queries, depth) of such rows, best first.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from trivium.measures.ranking import average_precision

Ranked = NDArray[np.int64]
Flags = NDArray[np.bool_]


def odmap(
    ranked: Ranked, named: Flags, removed: Flags, remaining: Flags, cutoffs: Iterable[int]
) -> dict[int, NDArray[np.float64]]:
    """{k: ODmAP@k of every query}; its mean over queries is the figure of the tables.

    `(1/k) Σ_{i≤k} P@i · rel_i`, as Musgrave et al. 2020 take it with k for the number of relevant. A caption is
    correct if it names no removed class and at least one that remains. `ValueError`: k out of range; the gallery may be
    smaller than k.

    Args:
        ranked: (queries, depth) captions.
        named: (captions, classes).
        removed: (queries, classes) the classes that went from the picture.
        remaining: (queries, classes) the classes that are still in it.
        cutoffs: k, from 1 to the depth.
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
