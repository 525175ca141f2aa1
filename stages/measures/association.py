"""How strongly two ways of sorting the same examples go together."""

from collections.abc import Sequence

import numpy as np


def cramers_v(first: Sequence[object], second: Sequence[object]) -> float | None:
    """Cramér's V = √(χ² / (n · min(r - 1, c - 1))), χ² of the r × c table of both: 0 independent, 1 determined.

    Returns:
        V in [0, 1]; None when one of the two has a single kind.

    Raises:
        ValueError: of different lengths, or empty.
    """
    if len(first) != len(second) or not len(first):
        raise ValueError(f"expected two sequences of one length, got {len(first)} and {len(second)}")
    rows, row = np.unique(np.asarray([str(value) for value in first]), return_inverse=True)
    columns, column = np.unique(np.asarray([str(value) for value in second]), return_inverse=True)
    if min(len(rows), len(columns)) < 2:
        return None
    table = np.bincount(row * len(columns) + column, minlength=len(rows) * len(columns)).reshape(len(rows), -1)
    n = table.sum()
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0, keepdims=True) / n
    return float(np.sqrt(((table - expected) ** 2 / expected).sum() / (n * (min(table.shape) - 1))))
