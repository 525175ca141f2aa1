"""Regions as masks of pixels: unions of boxes, and COCO's compressed run-length codes (decorrelation.md §1).

A mask is a boolean array (height, width). COCO encodes it column by column as the lengths of runs of 0 and 1 in turn,
starting with 0. From the fourth on, a length is stored as its difference from the last but one. The numbers are written
in groups of 5 bits, the lowest first, one character a group, counted from `0`.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]
Pixels = NDArray[np.uint8]  # (height, width, 3), RGB
Box = tuple[float, float, float, float]
_ROUNDING = 1e-6  # pixels: by rounding, left + width of decimal numbers may pass the border of a pixel
_GROUPS = 7  # most 5-bit groups of a number: runs of up to 2³⁴ pixels


def rasterise_boxes(boxes: Sequence[Box], height: int, width: int) -> Mask:
    """Make the mask of a union of boxes (left, top, width, height) in a picture of this size, all in pixels.

    Pixel (row, column) is the square [column, column + 1) × [row, row + 1). Partly covered pixels belong to the mask,
    because painting over it should hide all of the object; even a box smaller than a pixel covers one. `ValueError`: a
    box has no area, is not finite, or is not inside the picture.
    """
    mask = np.zeros((height, width), dtype=bool)
    for box in boxes:
        left, top, wide, high = box
        if not np.isfinite(box).all() or wide <= 0 or high <= 0:
            raise ValueError(f"box {box} has no area")
        if min(left, top) < 0 or left + wide > width + _ROUNDING or top + high > height + _ROUNDING:
            raise ValueError(f"box {box} is not inside a picture of {width} × {height} pixels")
        mask[_covered(top, high, height), _covered(left, wide, width)] = True
    return mask


def encode(mask: Mask) -> str:
    """Encode a mask as COCO's compressed run lengths."""
    from pycocotools import mask as coco  # installed by an extra only

    return str(coco.encode(np.asfortranarray(mask, dtype=np.uint8))["counts"], "ascii")


def decode(counts: str | Sequence[int], height: int, width: int) -> Mask:
    """Decode run lengths, compressed or not, to a mask; `ValueError` if they are none, or of another size."""
    lengths = run_lengths(counts) if isinstance(counts, str) else counts
    if min(lengths, default=0) < 0 or sum(lengths) != height * width:
        raise ValueError(f"run lengths of {sum(lengths)} pixels, expected those of a mask of {width} × {height}")
    return np.repeat(np.arange(len(lengths)) % 2 == 1, lengths).reshape(width, height).T


def run_lengths(counts: str) -> list[int]:
    """Decompress COCO's run lengths to numbers of pixels, whose sum is not checked; `ValueError` if they are none."""
    lengths: list[int] = []
    value = shift = 0
    for character in counts:
        group = ord(character) - ord("0")
        if not 0 <= group < 64 or shift >= 5 * _GROUPS:
            raise ValueError(f"not compressed run lengths: {character!r} after {len(lengths)} runs")
        value |= (group & 31) << shift
        shift += 5
        if group & 32:  # more groups follow
            continue
        if group & 16:
            value -= 1 << shift
        lengths.append(value + (lengths[-2] if len(lengths) > 2 else 0))
        value = shift = 0
    if shift:
        raise ValueError("not compressed run lengths: the last one is cut off")
    return lengths


def _covered(start: float, length: float, size: int) -> slice:
    first = min(int(np.floor(start + _ROUNDING)), size - 1)
    last = min(int(np.ceil(start + length - _ROUNDING)), size)
    return slice(first, max(last, first + 1))


def rasterise_segmentation(segmentation: Any, height: int, width: int) -> Mask:
    """Make the mask of an object's `segmentation`, as `read_instances` returns it, in a picture of this size in pixels.

    Polygons, whose union is the region, are drawn by COCO's own rule (pycocotools).
    """
    from pycocotools import mask as coco  # installed by an extra only

    if isinstance(segmentation, dict):
        return decode(segmentation["counts"], height, width)
    return coco.decode(coco.merge(coco.frPyObjects(segmentation, height, width))).astype(bool)
