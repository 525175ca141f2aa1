"""Retrieval with several right answers a query: R-Precision, mAP@R and R@k (Musgrave et al. 2020; Chun et al. 2022).

R is the number of a query's right answers. With hit_r = 1 where the item at rank r is right, and P(r) the share of
right items among the first r, R-Precision = P(R) and mAP@R = 1/R Σ_{r ≤ R} hit_r · P(r).
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray


def ranked_hits(scores: ArrayLike, right: ArrayLike, depth: int) -> NDArray[np.bool_]:
    """Which of the first items are right; of equal scores a wrong item ranks before a right one.

    Args:
        scores: (items,) of one query, the higher the better.
        right: (items,) bool.
        depth: how many of the first.
    """
    values, flags = np.asarray(scores), np.asarray(right, dtype=bool)
    if len(values) > 4 * depth:  # whatever reaches the score at `depth` takes part, so that ties are whole
        reached = values >= -np.partition(-values, depth - 1)[depth - 1]
        values, flags = values[reached], flags[reached]
    found: NDArray[np.bool_] = flags[np.lexsort((flags, -values))[:depth]]
    return found


def r_precision(hits: ArrayLike) -> float:
    """Of the R first items, (R,) bool."""
    return float(np.asarray(hits, dtype=float).mean())


def average_precision_at_r(hits: ArrayLike) -> float:
    """Of the R first items, (R,) bool; its mean over queries is mAP@R."""
    flags = np.asarray(hits, dtype=float)
    return float(np.mean(flags * flags.cumsum() / np.arange(1, len(flags) + 1)))
