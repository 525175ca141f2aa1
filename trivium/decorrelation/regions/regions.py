"""Regions of a picture's classes and their exact areas (decorrelation.md §1).

The region of a class is the union of its objects' boxes. All regions of a picture are cut into the same cells, each
inside or outside a region as a whole; so unions and intersections are logic on cells, and areas are sums of theirs.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from trivium.formats.masks import Mask, check_box, rasterise_boxes
from trivium.formats.pictures import Object, Picture
from trivium.formats.segmentations import rasterise_segmentation

Cells = NDArray[np.bool_]


@dataclass(frozen=True)
class Regions:
    """The regions of a picture's classes, over cells.

    Attributes:
        classes: of the picture, sorted.
        cells: (classes, rows, columns) whether a cell belongs to a class's region.
        areas: (rows, columns) of the cells, in square pixels; None: every cell is a pixel.
    """

    classes: tuple[str, ...]
    cells: NDArray[np.bool_]
    areas: NDArray[np.float64] | None

    def area(self, cells: Cells) -> float:
        """Area of a set of cells, in square pixels."""
        return float(np.count_nonzero(cells) if self.areas is None else self.areas[cells].sum())

    def coverage(self, region: Cells) -> NDArray[np.float64]:
        """area(region ∩ B_k) / area(B_k) of every class k, (classes,)."""
        return self._areas(self.cells & region) / self._of_classes

    @cached_property
    def _of_classes(self) -> NDArray[np.float64]:
        return self._areas(self.cells)

    def _areas(self, cells: Cells) -> NDArray[np.float64]:
        """(classes, rows, columns) → (classes,)."""
        if self.areas is None:
            return np.array([np.count_nonzero(each) for each in cells], np.float64)
        return (cells * self.areas).sum(axis=(1, 2))


def box_regions(picture: Picture) -> Regions:
    """Regions of boxes, exactly: the cells lie between the lines through the boxes' sides.

    Raises:
        ValueError: a box that is not inside the picture or has no area.
    """
    for each in picture.objects:
        check_box(each.box, picture.height, picture.width)
    left, top, width, height = np.array([each.box for each in picture.objects], dtype=np.float64).reshape(-1, 4).T
    right, bottom = left + width, top + height
    columns, rows = np.unique([left, right]), np.unique([top, bottom])
    cells = np.zeros((len(picture.classes), max(len(rows) - 1, 0), max(len(columns) - 1, 0)), dtype=bool)
    for place, each in enumerate(picture.objects):
        first_row, last_row = np.searchsorted(rows, [top[place], bottom[place]])
        first_column, last_column = np.searchsorted(columns, [left[place], right[place]])
        number = picture.classes.index(each.class_name)
        cells[number, first_row:last_row, first_column:last_column] = True
    return Regions(picture.classes, cells, np.outer(np.diff(rows), np.diff(columns)))


def segmentation_regions(picture: Picture) -> Regions:
    """Regions of segmentations; the cells are the pixels.

    Raises:
        ValueError: a segmentation that cannot be.
    """
    cells = np.zeros((len(picture.classes), picture.height, picture.width), dtype=bool)
    for each in picture.objects:
        cells[picture.classes.index(each.class_name)] |= object_pixels(each, picture.height, picture.width)
    return Regions(picture.classes, cells, None)


def object_pixels(each: Object, height: int, width: int) -> Mask:
    """The pixels of an object's segmentation; of its box where there is none that holds a pixel's centre.

    Raises:
        ValueError: as `rasterise_segmentation`.
    """
    if each.segmentation is not None:
        pixels = rasterise_segmentation(each.segmentation, height, width)
        if pixels.any():
            return pixels
    return rasterise_boxes([each.box], height, width)
