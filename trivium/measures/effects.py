"""By how much the examples that a factor calls hard score lower: δ (complexity.md §5).

Factors are coded as (factors, examples) of 1 (E_f, "yes"), 0 (Ē_f, "no") and -1 (in neither set).
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

YES, NO, NEITHER = 1, 0, -1
_ROUNDING = 1e-9  # means of ratios of small integers carry rounding errors; a δ of -3 must not become -4


def mean_differences(scores: ArrayLike, factors: ArrayLike) -> NDArray[np.float64]:
    """δ = 100 · (mean score over E_f - mean score over Ē_f) of every model and factor, not floored.

    Args:
        scores: (models, examples), in [0, 1].
        factors: (factors, examples) of 1, 0, -1.

    Returns:
        (models, factors) points; NaN where E_f or Ē_f is empty.

    Raises:
        ValueError: shapes do not fit, a code is none of the three, or a score is not finite.
    """
    yes, no = side_means(*checked(scores, factors))
    return 100 * (yes - no)


def side_means(
    scores: NDArray[np.float64], factors: NDArray[np.int8]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean scores over E_f and over Ē_f, (models, factors), of what is `checked`; NaN where there are none."""
    sides = []
    for side in (YES, NO):
        member = (factors == side).astype(np.float64)
        size = member.sum(axis=1)
        sides.append(np.divide(scores @ member.T, size, out=np.full((len(scores), len(size)), np.nan), where=size > 0))
    return sides[0], sides[1]


def floor_points(delta: ArrayLike) -> NDArray[np.float64]:
    """⌊δ⌋ as the paper prints it; a δ within 1e-9 of an integer is that integer."""
    return np.floor(np.asarray(delta, dtype=np.float64) + _ROUNDING)


def below_zero(delta: ArrayLike) -> NDArray[np.bool_]:
    """δ < 0 by more than rounding errors; NaN is not."""
    return np.asarray(delta, dtype=np.float64) < -_ROUNDING


def checked(scores: ArrayLike, factors: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """Both as arrays of matching shape; raises as `mean_differences`."""
    scores, codes = np.asarray(scores, dtype=np.float64), np.asarray(factors)
    if scores.ndim != 2 or codes.ndim != 2 or scores.shape[1] != codes.shape[1]:
        raise ValueError(f"scores {scores.shape} and factors {codes.shape} should be matrices over the same examples")
    if not np.isfinite(scores).all():
        raise ValueError("scores should be finite numbers")
    if not np.isin(codes, (YES, NO, NEITHER)).all():
        raise ValueError("factors should be coded 1 (yes), 0 (no) and -1 (neither)")
    return scores, codes.astype(np.int8)
