"""Which classes can be removed from a picture, and what goes with them (decorrelation.md §1)."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trivium.decorrelation.regions.regions import Regions

REASONS = ("single_class", "crowd", "crowd_covered", "nothing_remains", "overlap", "size")


@dataclass(frozen=True)
class Limits:
    """Shares of an area.

    Attributes:
        delta1: of a class that stays, less is covered.
        delta2: a class of which more is covered goes too.
        delta3: of the picture, less is covered.
    """

    delta1: float
    delta2: float
    delta3: float


@dataclass(frozen=True)
class Eligible:
    """A class that can be removed.

    Attributes:
        removed: {c_r} ∪ C_r+, sorted.
        remaining: the classes that stay, sorted.
        share: area(B') / area(x).
    """

    removed: tuple[str, ...]
    remaining: tuple[str, ...]
    share: float


def eligible(
    class_name: str, regions: Regions, crowded: Collection[str], area: float, limits: Limits
) -> Eligible | str:
    """What goes with a class, or the first of REASONS why it cannot be removed.

    With B_k the region of class k and c_r the class: C_r+ = {k: area(B_r ∩ B_k) / area(B_k) > δ2} goes with it, and
    B' is the union of all that goes. Every class k that stays must satisfy area(B' ∩ B_k) / area(B_k) < δ1, and
    area(B') / area(x) < δ3. Without C_r+ this is the paper's rule for a single class.

    Args:
        class_name: c_r, one of the picture's classes.
        regions: of all classes of the picture.
        crowded: classes with a crowd among their objects. A crowd is never removed, so such a class cannot vanish:
            neither as c_r (`crowd`) nor with it (`crowd_covered`).
        area: of the picture, in square pixels.
        limits: the three thresholds.
    """
    if len(regions.classes) < 2:
        return "single_class"
    if class_name in crowded:
        return "crowd"
    chosen = regions.classes.index(class_name)
    goes = regions.coverage(regions.cells[chosen]) > limits.delta2
    goes[chosen] = True  # also with δ2 = 1
    removed, remaining = _names(regions.classes, goes), _names(regions.classes, ~goes)
    if not set(removed).isdisjoint(crowded):
        return "crowd_covered"
    if not remaining:
        return "nothing_remains"
    region = np.logical_or.reduce(regions.cells[goes], axis=0)
    if (regions.coverage(region)[~goes] >= limits.delta1).any():
        return "overlap"
    share = regions.area(region) / area
    if share >= limits.delta3:
        return "size"
    return Eligible(removed, remaining, share)


def _names(classes: Sequence[str], chosen: NDArray[np.bool_]) -> tuple[str, ...]:
    return tuple(name for name, taken in zip(classes, chosen.tolist(), strict=True) if taken)
