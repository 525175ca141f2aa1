"""Holm's correction of a table of tests: the chance of any false alarm among them is at most the level.

S. Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6, 1979.
"""

import numpy as np
from numpy.typing import NDArray


def holm(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """p̃_(i) = max_{j ≤ i} min(1, (m − j + 1) p_(j)) of the m tests that have a p, which rise with i.

    Args:
        p: of any shape; NaN where there is no test.

    Returns:
        Adjusted p of the same shape; those without a test stay NaN.
    """
    adjusted = np.full_like(p, np.nan)
    known = ~np.isnan(p)
    given = p[known]
    order = np.argsort(given)
    rising = np.maximum.accumulate(given[order] * np.arange(len(given), 0, -1))
    given[order] = np.minimum(rising, 1)
    adjusted[known] = given
    return adjusted
