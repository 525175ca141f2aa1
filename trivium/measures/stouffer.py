"""Stouffer's combination of one comparison's p-values in several independent samples."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri


def stouffer(differences: ArrayLike, p: ArrayLike) -> float:
    """Two-sided p of all samples together, each with the same weight (Stouffer et al. 1949).

    z_i = sign(d_i) Φ⁻¹(1 − p_i / 2), Z = Σ z_i / √k and p = 2 Φ(−|Z|): samples that disagree take from each other.

    Args:
        differences: (k,) of which the signs count.
        p: (k,) two-sided, in (0, 1].

    Raises:
        ValueError: no samples, not as many of one as of the other, or a p outside (0, 1].
    """
    signs, two_sided = np.sign(np.asarray(differences, dtype=np.float64)), np.asarray(p, dtype=np.float64)
    if signs.ndim != 1 or signs.shape != two_sided.shape or not len(signs):
        raise ValueError(f"as many p as differences are expected, got shapes {two_sided.shape} and {signs.shape}")
    if not ((two_sided > 0) & (two_sided <= 1)).all():
        raise ValueError(f"p should be in (0, 1], got {two_sided}")
    z = -(signs * ndtri(two_sided / 2)).sum() / np.sqrt(len(signs))
    return float(2 * ndtr(-abs(z)))
