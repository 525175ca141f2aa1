"""A box in which nothing is annotated: painting over it should change nothing, a check for shortcuts.

See decorrelation.md §3.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from trivium.formats.masks import Box, encode, rasterise_boxes
from trivium.formats.pictures import Picture, Removal

REASONS = ("empty_no_object", "empty_no_place")


def find_empty_boxes(
    pictures: Iterable[Picture], *, tries: int, seed: int, rejected: Counter[str]
) -> Iterator[Removal]:
    """A box of every picture without anything that is annotated, as removals of no class.

    Args:
        pictures: any order; a picture's box depends on the picture alone.
        tries: places drawn in a picture before giving up.
        seed: of the draws.
        rejected: takes the counts of pictures without a box, by REASONS.
    """
    for picture in pictures:
        boxes = [each.box for each in picture.objects]
        if not boxes:
            rejected["empty_no_object"] += 1
            continue
        size = (picture.height, picture.width)
        box = empty_box(boxes, *size, others=picture.others, tries=tries, seed=(seed, picture.id))
        if box is None:
            rejected["empty_no_place"] += 1
            continue
        yield Removal(
            id=f"{picture.id}_empty",
            picture=picture.id,
            name=picture.name,
            split=picture.split,
            class_name="",
            removed=(),
            remaining=picture.classes,
            mask=encode(rasterise_boxes([box], picture.height, picture.width)),
            height=picture.height,
            width=picture.width,
            share=box[2] * box[3] / (picture.width * picture.height),
            drawn=True,
        )


def empty_box(
    boxes: Sequence[Box], height: int, width: int, *, others: Sequence[Box] = (), tries: int, seed: Sequence[int]
) -> Box | None:
    """A box of whole pixels, as large as one of the objects (drawn), which has no pixel in common with anything.

    Args:
        boxes: of the picture's objects, crowds too, at least one, in any order.
        height, width: of the picture.
        others: boxes of things of no class, which must not be touched either.
        tries: places drawn before giving up.
        seed: of the draws.

    Returns:
        (left, top, width, height), or None when no place was found.
    """
    rng = np.random.default_rng(seed)
    ordered = sorted(boxes)
    left, top, wide, high = np.array([*ordered, *others]).T
    _, _, model_width, model_height = ordered[rng.integers(len(ordered))]
    columns, rows = min(math.ceil(model_width), width), min(math.ceil(model_height), height)
    x = rng.integers(width - columns + 1, size=(tries, 1))
    y = rng.integers(height - rows + 1, size=(tries, 1))
    beside = (x + columns <= left) | (left + wide <= x) | (y + rows <= top) | (top + high <= y)
    free = np.flatnonzero(beside.all(axis=1))
    return (float(x[free[0], 0]), float(y[free[0], 0]), float(columns), float(rows)) if len(free) else None
