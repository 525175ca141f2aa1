"""Scores that stay apart in 32 bits, as trec_eval holds them; equal ones it orders by the documents' names."""

import numpy as np
from numpy.typing import NDArray


def untie(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Round scores to 32-bit floats that decrease strictly along each list.

    `u_1 = f(s_1)`, `u_r = min(f(s_r), the 32-bit float below u_(r-1))`, where f is the nearest 32-bit float: no score
    is lowered more than the order needs.

    Args:
        scores: (queries, depth), non-increasing in a row, NaN at its end where padded.

    Returns:
        (queries, depth) float64 of 32-bit values, NaN where padded.

    Raises:
        ValueError: a score is not finite in 32 bits.
    """
    padded = np.isnan(scores)
    with np.errstate(over="ignore"):
        rounded = np.where(padded, np.inf, scores).astype(np.float32)
    # Numbers that count 32-bit floats in their order; both zeros are 0.
    bits = np.abs(rounded).view(np.int32).astype(np.int64)
    numbers = np.where(rounded < 0, -bits, bits)
    places = np.arange(scores.shape[1])
    numbers = np.minimum.accumulate(numbers + places, axis=1) - places
    lowered = np.copysign(np.abs(numbers).astype(np.int32).view(np.float32), numbers).astype(np.float64)
    if not np.isfinite(lowered[~padded]).all():
        raise ValueError("a score is not finite as a 32-bit float")
    return np.where(padded, np.nan, lowered)
