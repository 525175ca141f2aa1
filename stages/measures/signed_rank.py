"""Wilcoxon's signed-rank test for many rows of paired differences at once."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

from stages.measures.mann_whitney import midranks


def signed_rank(differences: ArrayLike) -> NDArray[np.float64]:
    """Two-sided p of each row: are the differences centred on 0?

    Zeros are dropped (Wilcoxon 1945). Of the n left, W = Σ ranks of |d| over d > 0 has mean n(n + 1)/4 and variance
    (n(n + 1)(2n + 1) - Σ(t³ - t)/2) / 24 with t ties; p = 2 Φ(-|z|), the normal approximation. A row of zeros gives 1.

    Args:
        differences: (rows, n).

    Raises:
        ValueError: not two-dimensional or not finite.
    """
    differences = np.asarray(differences, dtype=np.float64)
    if differences.ndim != 2 or not np.isfinite(differences).all():
        raise ValueError(f"differences should be a matrix of finite numbers, got shape {differences.shape}")
    p = np.ones(len(differences))
    for row, values in enumerate(differences):
        kept = values[values != 0]
        n = len(kept)
        if n == 0:
            continue
        ranks, ties = midranks(np.abs(kept)[None])
        variance = (n * (n + 1) * (2 * n + 1) - ties[0] / 2) / 24
        z = (ranks[0, kept > 0].sum() - n * (n + 1) / 4) / np.sqrt(variance)
        p[row] = 2 * ndtr(-abs(z))
    return p
