"""Regions of a picture's classes, and which classes can be removed from it (decorrelation.md §1).

The region of a class is the union of its objects' boxes. All regions of a picture are cut into the same cells, each
inside or outside a region as a whole; so unions and intersections are logic on cells, and areas are sums of theirs.
"""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trivium.formats.masks import check_box, rasterise_boxes, rasterise_segmentation
from trivium.formats.pictures import Picture

Cells = NDArray[np.bool_]


@dataclass(frozen=True)
class Regions:
    """The regions of a picture's classes, over cells.

    Attributes:
        classes: of the picture, sorted.
        cells: (classes, rows, columns) whether a cell belongs to a class's region.
        areas: of the cells, in square pixels, (rows, columns); (1, 1) where all have one.
    """

    classes: tuple[str, ...]
    cells: NDArray[np.bool_]
    areas: NDArray[Any]

    def area(self, cells: Cells) -> float:
        """Area of a set of cells, in square pixels."""
        return float(np.broadcast_to(self.areas, cells.shape)[cells].sum())

    def coverage(self, region: Cells) -> NDArray[np.float64]:
        """area(region ∩ B_k) / area(B_k) of every class k, (classes,)."""
        return self._areas(self.cells & region) / self._of_classes

    @cached_property
    def _of_classes(self) -> NDArray[np.float64]:
        return self._areas(self.cells)

    def _areas(self, cells: Cells) -> NDArray[np.float64]:
        """(classes, rows, columns) → (classes,)."""
        return (cells * self.areas).sum(axis=(1, 2))


def box_regions(picture: Picture) -> Regions:
    """Regions of boxes, exactly: cells lie between the lines through their sides; `ValueError` as `check_box`."""
    for instance in picture.objects:
        check_box(instance.box, picture.height, picture.width)
    left, top, width, height = (
        np.array([instance.box for instance in picture.objects], dtype=np.float64).reshape(-1, 4).T
    )
    right, bottom = left + width, top + height
    columns, rows = np.unique([left, right]), np.unique([top, bottom])
    cells = np.zeros((len(picture.classes), max(len(rows) - 1, 0), max(len(columns) - 1, 0)), dtype=bool)
    for place, instance in enumerate(picture.objects):
        first_row, last_row = np.searchsorted(rows, [top[place], bottom[place]])
        first_column, last_column = np.searchsorted(columns, [left[place], right[place]])
        number = picture.classes.index(instance.class_name)
        cells[number, first_row:last_row, first_column:last_column] = True
    return Regions(picture.classes, cells, np.outer(np.diff(rows), np.diff(columns)))


def segmentation_regions(picture: Picture) -> Regions:
    """Regions of segmentations; an object without one has its box. Cells are pixels.

    Raises:
        ValueError: as `rasterise_segmentation`.
    """
    cells = np.zeros((len(picture.classes), picture.height, picture.width), dtype=bool)
    for instance in picture.objects:
        outline = instance.segmentation
        pixels = None if outline is None else rasterise_segmentation(outline, picture.height, picture.width)
        if pixels is None or not pixels.any():  # it holds no pixel's centre
            pixels = rasterise_boxes([instance.box], picture.height, picture.width)
        cells[picture.classes.index(instance.class_name)] |= pixels
    return Regions(picture.classes, cells, np.ones((1, 1), bool))


REASONS = ("single_class", "crowd", "crowd_covered", "nothing_remains", "overlap", "size")


@dataclass(frozen=True)
class Limits:
    """Shares: δ1 of a class that stays, δ2 of one that goes too, δ3 of the picture; see `eligible`."""

    delta1: float
    delta2: float
    delta3: float


@dataclass(frozen=True)
class Eligible:
    """What goes with a class that can be removed, {c_r} ∪ C_r+, and what stays, both sorted; area(B') / area(x)."""

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
    removed, remaining = (tuple(compress(regions.classes, chosen)) for chosen in (goes, ~goes))
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
