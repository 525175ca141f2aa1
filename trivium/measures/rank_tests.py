"""Tests on ranks: Mann and Whitney's, Wilcoxon's, and both with frames as the units (complexity.md §4 and §5)."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trivium.measures.effects import NEITHER, NO, YES, check_shapes


def mann_whitney(scores: ArrayLike, yes: ArrayLike) -> NDArray[np.float64]:
    """Two-sided U test of every row, (rows,) p, of the columns marked yes against the others: SciPy's approximation.

    U = R - n₁(n₁ + 1) / 2 with R the rank sum of the n₁ columns marked yes; with n = n₁ + n₂ and groups of t ties
    σ² = n₁n₂/12 · ((n + 1) - Σ(t³ - t) / (n(n - 1))), z = (|U - n₁n₂/2| - ½) / σ, p = 2 (1 - Φ(z)), at most 1. Rows
    without two different values give p = 1. The normal approximation is meant for sets of 8 and more.

    Args:
        scores: (rows, n), such as models × examples.
        yes: (n,) which columns form the first set.
    """
    from scipy.stats import mannwhitneyu  # its import takes half a second

    scores, yes = np.asarray(scores, dtype=np.float64), np.asarray(yes, dtype=bool)
    p: NDArray[np.float64] = mannwhitneyu(scores[:, yes], scores[:, ~yes], axis=1, method="asymptotic").pvalue
    return p


_EXACT = 25  # most differences whose distribution is counted out, as SciPy and R do for few


def signed_rank(differences: ArrayLike) -> NDArray[np.float64]:
    """Two-sided p of each row of (rows, n) differences that are centred on 0 (Wilcoxon's signed ranks).

    Zeros are dropped (Wilcoxon 1945). Of the n left, W = Σ ranks of |d| over d > 0 has mean n(n + 1)/4 and variance
    (n(n + 1)(2n + 1) - Σ(t³ - t)/2) / 24 with t ties. Up to 25 differences without ties p is exact: all 2ⁿ signs are as
    likely. Else z = max(0, |W - mean| - ½) / σ and p = 2 Φ(-z), the normal approximation with correction for
    continuity. A row of zeros gives 1.
    """
    from scipy.stats import wilcoxon  # its import takes half a second

    differences = np.asarray(differences, dtype=np.float64)
    p = np.ones(len(differences))
    for row, values in enumerate(differences):
        kept = values[values != 0]
        if len(kept):
            exact = len(kept) <= _EXACT and len(np.unique(np.abs(kept))) == len(kept)
            p[row] = wilcoxon(kept, correction=True, method="exact" if exact else "asymptotic").pvalue
    return p


@dataclass(frozen=True)
class FrameLevel:
    """One factor's test over frames.

    Attributes:
        p: (models,) two-sided; NaN where no frame can be compared.
        kind: "between" frames (Mann-Whitney over their means) or "within" them (signed ranks of their differences).
        frames: how many frames were compared.
    """

    p: NDArray[np.float64]
    kind: Literal["between", "within"]
    frames: int


def frame_level(scores: ArrayLike, factor: ArrayLike, frames: ArrayLike) -> FrameLevel:
    """Test a factor with every frame counted once.

    Where at least half of the counted examples belong to frames that have both sides, each such frame gives one
    difference of means, and Wilcoxon's signed-rank test asks whether they are centred on 0 ("within"). Else the frame
    takes the side that most of its examples are on (none at a tie), its mean is that of those examples, and
    Mann-Whitney compares the frames of the two sides ("between"); a factor that is constant in every frame is this
    case.

    Args:
        scores: (models, examples).
        factor: (examples,) of 1, 0, -1.
        frames: (examples,) number or name of each example's frame.
    """
    scores, codes = check_shapes(scores, np.asarray(factor)[None])
    names, number = np.unique(np.asarray(frames), return_inverse=True)
    means, sizes = [], []
    for side in (YES, NO):
        member = codes[0] == side
        size = np.bincount(number[member], minlength=len(names))
        total = np.stack([np.bincount(number[member], weights=row[member], minlength=len(names)) for row in scores])
        means.append(np.divide(total, size, out=np.zeros(total.shape), where=size > 0))
        sizes.append(size)
    both = (sizes[0] > 0) & (sizes[1] > 0)
    counted = sizes[0] + sizes[1]
    if both.any() and 2 * counted[both].sum() >= counted.sum():
        return FrameLevel(signed_rank(means[0][:, both] - means[1][:, both]), "within", int(both.sum()))
    side_of_frame = np.where(sizes[0] > sizes[1], YES, np.where(sizes[1] > sizes[0], NO, NEITHER))
    kept = side_of_frame != NEITHER
    yes = side_of_frame[kept] == YES
    if not yes.any() or yes.all():
        return FrameLevel(np.full(len(scores), np.nan), "between", 0)
    value = np.where(side_of_frame == YES, means[0], means[1])[:, kept]
    return FrameLevel(mann_whitney(value, yes), "between", int(kept.sum()))
