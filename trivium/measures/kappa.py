"""Fleiss' κ: how much several annotators agree beyond chance."""

import numpy as np
from numpy.typing import ArrayLike


def fleiss_kappa(counts: ArrayLike) -> float | None:
    """κ = (P̄ - P̄ₑ) / (1 - P̄ₑ) (Fleiss 1971), also where items have different numbers of annotators.

    With n_ij annotators of item i in category j, n_i = Σ_j n_ij ≥ 2 and N items:
    `P_i = Σ_j n_ij (n_ij - 1) / (n_i (n_i - 1))`, `P̄ = Σ_i P_i / N`, `p_j = Σ_i (n_ij / n_i) / N`, `P̄ₑ = Σ_j p_j²`.
    With equal n_i this is Fleiss' own formula; else every item weighs the same (Gwet 2014, §2.5). An item with fewer
    than two annotators says nothing about agreement and is left out.

    Args:
        counts: (items, categories) whole numbers ≥ 0.

    Returns:
        κ in [-1, 1]; None where it is not defined: no item with two annotators, or only one category ever chosen.

    Raises:
        ValueError: not a matrix of whole numbers ≥ 0.
    """
    matrix = np.asarray(counts, dtype=np.float64)
    if matrix.ndim != 2 or not (np.isfinite(matrix).all() and (matrix >= 0).all() and (matrix % 1 == 0).all()):
        raise ValueError(f"counts should be a matrix of whole numbers of at least 0, got shape {matrix.shape}")
    annotators = matrix.sum(axis=1, keepdims=True)
    kept = annotators[:, 0] >= 2
    matrix, annotators = matrix[kept], annotators[kept]
    if not len(matrix):
        return None
    observed = float(((matrix * (matrix - 1)).sum(axis=1) / (annotators * (annotators - 1))[:, 0]).mean())
    shares = (matrix / annotators).mean(axis=0)
    if (shares > 0).sum() == 1:
        return None
    expected = float((shares**2).sum())
    return (observed - expected) / (1 - expected)
