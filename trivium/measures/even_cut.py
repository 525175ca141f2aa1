"""The cut of a numeric property that splits examples most evenly (the paper's §4, step 2)."""

import numpy as np
from numpy.typing import ArrayLike


def even_cut(values: ArrayLike, weights: ArrayLike | None = None) -> float | None:
    """The value v for which {x ≤ v} and {x > v} differ least in weight, neither empty; the lowest v at a tie.

    Args:
        values: (n,) finite numbers.
        weights: (n,) how much each counts; 1 by default.

    Returns:
        v, one of the values; None when all values are equal, since no cut then splits them.

    Raises:
        ValueError: no value, not finite, or weights of another shape.
    """
    values = np.asarray(values, dtype=np.float64)
    weights = np.ones_like(values) if weights is None else np.asarray(weights, dtype=np.float64)
    if values.ndim != 1 or not values.size or not np.isfinite(values).all() or weights.shape != values.shape:
        raise ValueError(f"values should be a vector of finite numbers with their weights, got shape {values.shape}")
    kinds, number = np.unique(values, return_inverse=True)
    if len(kinds) < 2:
        return None
    below = np.cumsum(np.bincount(number, weights=weights))
    return float(kinds[np.argmin(np.abs(2 * below[:-1] - below[-1]))])
