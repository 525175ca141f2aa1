"""Wilcoxon's signed-rank test for many rows of paired differences at once."""

from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

_EXACT = 25  # most differences whose distribution is counted out, as SciPy and R do for few


def signed_rank(differences: ArrayLike) -> NDArray[np.float64]:
    """Two-sided p of each row: are the differences centred on 0?

    Zeros are dropped (Wilcoxon 1945). Of the n left, W = Σ ranks of |d| over d > 0 has mean n(n + 1)/4 and variance
    (n(n + 1)(2n + 1) - Σ(t³ - t)/2) / 24 with t ties. Up to 25 differences without ties p is exact: all 2ⁿ signs are as
    likely. Else z = max(0, |W - mean| - ½) / σ and p = 2 Φ(-z), the normal approximation with correction for
    continuity. A row of zeros gives 1.

    Args:
        differences: (rows, n).

    Raises:
        ValueError: not two-dimensional or not finite.
    """
    from scipy.special import ndtr
    from scipy.stats import rankdata  # its import takes half a second

    differences = np.asarray(differences, dtype=np.float64)
    if differences.ndim != 2 or not np.isfinite(differences).all():
        raise ValueError(f"differences should be a matrix of finite numbers, got shape {differences.shape}")
    p = np.ones(len(differences))
    for row, values in enumerate(differences):
        kept = values[values != 0]
        n = len(kept)
        if n == 0:
            continue
        size = np.unique(np.abs(kept), return_counts=True)[1]
        statistic = rankdata(np.abs(kept))[kept > 0].sum()
        if n <= _EXACT and len(size) == n:
            p[row] = min(1.0, 2 * _at_most(n)[int(min(statistic, n * (n + 1) / 2 - statistic))])
            continue
        variance = (n * (n + 1) * (2 * n + 1) - (size**3 - size).sum() / 2) / 24
        z = max(0.0, abs(statistic - n * (n + 1) / 4) - 0.5) / np.sqrt(variance)
        p[row] = 2 * ndtr(-z)
    return p


@cache
def _at_most(n: int) -> NDArray[np.float64]:
    """(n(n + 1)/2 + 1,) probability that the ranks 1 to n with random signs have a positive sum of at most 0, 1, ..."""
    ways = np.ones(1)
    for rank in range(1, n + 1):
        ways = np.convolve(ways, [1, *[0] * (rank - 1), 1])
    return np.cumsum(ways) / 2.0**n
