"""How strongly two ways of sorting the same examples go together."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def cramers_v(first: Sequence[object], second: Sequence[object]) -> float | None:
    """Cramér's V = √(χ² / (n · min(r - 1, c - 1))), χ² of the r × c table of both: 0 independent, 1 determined.

    Returns:
        V in [0, 1]; None when one of the two has a single kind.

    Raises:
        ValueError: of different lengths, or empty.
    """
    table = _table(first, second)
    if min(table.shape) < 2:
        return None
    return float(np.sqrt(_phi_squared(table) / (min(table.shape) - 1)))


def cramers_v_corrected(first: Sequence[object], second: Sequence[object]) -> float | None:
    """Cramér's V without its bias (Bergsma 2013): kinds of few examples give a V far above 0 by chance alone.

    V = √(max(0, φ² - (r - 1)(c - 1) / (n - 1)) / (min(r', c') - 1)) with φ² = χ² / n, r' = r - (r - 1)² / (n - 1) and
    c' = c - (c - 1)² / (n - 1).

    Returns:
        V in [0, 1]; None when one of the two has a single kind, or as many as there are examples.

    Raises:
        ValueError: of different lengths, or empty.
    """
    table = _table(first, second)
    if min(table.shape) < 2:
        return None
    n = table.sum()
    r, c = table.shape
    kinds = min(r - (r - 1) ** 2 / (n - 1), c - (c - 1) ** 2 / (n - 1))
    if kinds <= 1:
        return None
    phi_squared = max(0.0, _phi_squared(table) - (r - 1) * (c - 1) / (n - 1))
    return float(min(1.0, np.sqrt(phi_squared / (kinds - 1))))


def _table(first: Sequence[object], second: Sequence[object]) -> NDArray[np.int64]:
    """Counts of every pair of kinds."""
    from scipy.stats.contingency import crosstab  # its import takes half a second

    if len(first) != len(second) or not len(first):
        raise ValueError(f"expected two sequences of one length, got {len(first)} and {len(second)}")
    table: NDArray[np.int64] = crosstab(*([str(value) for value in kinds] for kinds in (first, second))).count
    return table


def _phi_squared(table: NDArray[np.int64]) -> float:
    """χ² of a table over its sum."""
    from scipy.stats.contingency import chi2_contingency

    return float(chi2_contingency(table, correction=False).statistic / table.sum())
