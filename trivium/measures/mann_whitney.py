"""Mann and Whitney's U test of many score rows at once (complexity.md §4, step 4 of the paper's method)."""

import numpy as np
from numpy.typing import ArrayLike, NDArray


def mann_whitney(scores: ArrayLike, yes: ArrayLike) -> NDArray[np.float64]:
    """Two-sided U test of every row between the columns marked yes and the others: SciPy's normal approximation.

    U = R - n₁(n₁ + 1) / 2 with R the rank sum of the n₁ columns marked yes; with n = n₁ + n₂ and groups of t ties
    σ² = n₁n₂/12 · ((n + 1) - Σ(t³ - t) / (n(n - 1))), z = (|U - n₁n₂/2| - ½) / σ, p = 2 (1 - Φ(z)), at most 1. Rows
    without two different values give p = 1. The approximation is meant for sets of 8 and more.

    Args:
        scores: (rows, n), such as models × examples.
        yes: (n,) which columns form the first set.

    Returns:
        (rows,) p.

    Raises:
        ValueError: a set is empty, shapes do not fit, or a score is not finite.
    """
    from scipy.stats import mannwhitneyu  # its import takes half a second

    scores, yes = np.asarray(scores, dtype=np.float64), np.asarray(yes, dtype=bool)
    if scores.ndim != 2 or yes.shape != scores.shape[1:] or not np.isfinite(scores).all():
        raise ValueError(f"expected a matrix of finite numbers and its columns, got {scores.shape} and {yes.shape}")
    if not yes.any() or yes.all():
        raise ValueError(f"both sets should hold a value, got {yes.sum()} and {(~yes).sum()}")
    p: NDArray[np.float64] = mannwhitneyu(scores[:, yes], scores[:, ~yes], axis=1, method="asymptotic").pvalue
    return p
