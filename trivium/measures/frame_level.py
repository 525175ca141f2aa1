"""Tests of a factor with frames, not examples, as the units (complexity.md §5; f0 and f6 are constant in a frame)."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trivium.measures.effects import NEITHER, NO, YES, checked
from trivium.measures.mann_whitney import mann_whitney
from trivium.measures.signed_rank import signed_rank


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
    """Does a factor matter when every frame counts once?

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
    scores, codes = checked(scores, np.asarray(factor)[None])
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
    taken = np.where(sizes[0] > sizes[1], YES, np.where(sizes[1] > sizes[0], NO, NEITHER))
    kept = taken != NEITHER
    yes = taken[kept] == YES
    if not yes.any() or yes.all():
        return FrameLevel(np.full(len(scores), np.nan), "between", 0)
    value = np.where(taken == YES, means[0], means[1])[:, kept]
    return FrameLevel(mann_whitney(value, yes), "between", int(kept.sum()))
