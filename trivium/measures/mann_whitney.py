"""Mann and Whitney's U test for many score rows at once, with ties (complexity.md §4, step 4 of the paper's method)."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr


def midranks(values: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Ranks from 1 along each row, ties at their mean rank.

    Args:
        values: (rows, n) finite numbers.

    Returns:
        (rows, n) ranks, and (rows,) Σ (t³ - t) over the groups of t tied values.

    Raises:
        ValueError: not two-dimensional, empty rows, or not finite.
    """
    values = np.asarray(values, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] == 0 or not np.isfinite(values).all():
        raise ValueError(f"values should be a matrix of finite numbers with columns, got shape {values.shape}")
    rows, n = values.shape
    order = np.argsort(values, axis=1, kind="stable")
    ordered = np.take_along_axis(values, order, axis=1)
    first = np.ones((rows, n), dtype=bool)
    first[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    begins = np.flatnonzero(first)
    size = np.diff(np.append(begins, rows * n)).astype(np.float64)
    mean_rank = begins % n + (size + 1) / 2
    ranks = np.empty_like(values)
    np.put_along_axis(ranks, order, mean_rank[np.cumsum(first) - 1].reshape(rows, n), axis=1)
    return ranks, np.bincount(begins // n, weights=size**3 - size, minlength=rows).astype(np.float64)


def mann_whitney(scores: ArrayLike, yes: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Two-sided U test of every row between the columns marked yes and the others.

    U = R - n₁(n₁ + 1) / 2 with R the rank sum of the n₁ columns marked yes; with n = n₁ + n₂ and groups of t ties
    σ² = n₁n₂/12 · ((n + 1) - Σ(t³ - t) / (n(n - 1))), z = (|U - n₁n₂/2| - ½) / σ, p = 2 (1 - Φ(z)), at most 1. Rows
    without two different values give p = 1. The normal approximation is meant for sets of 8 and more.

    Args:
        scores: (rows, n), such as models × examples.
        yes: (n,) which columns form the first set.

    Returns:
        (rows,) U of the first set, (rows,) p.

    Raises:
        ValueError: a set is empty, shapes do not fit, or a score is not finite.
    """
    yes = np.asarray(yes, dtype=bool)
    ranks, ties = midranks(scores)
    n = ranks.shape[1]
    if yes.shape != (n,):
        raise ValueError(f"yes has shape {yes.shape}, expected {(n,)}")
    ones = int(yes.sum())
    zeros = n - ones
    if not ones or not zeros:
        raise ValueError(f"both sets should hold a value, got {ones} and {zeros}")
    u = ranks[:, yes].sum(axis=1) - ones * (ones + 1) / 2
    sigma = np.sqrt(np.maximum(ones * zeros / 12 * ((n + 1) - ties / (n * (n - 1))), 0.0))
    distance = np.abs(u - ones * zeros / 2) - 0.5
    z = np.divide(distance, sigma, out=np.full_like(distance, -np.inf), where=sigma > 0)
    return u, np.minimum(1.0, 2 * ndtr(-z))
