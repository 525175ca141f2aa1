"""Masks: what a box covers, and run lengths to COCO's letter (pycocotools is the independent implementation)."""

import numpy as np
import pytest
from pycocotools import mask as coco

from trivium.formats.masks import decode, encode, rasterise_boxes, rasterise_segmentation, run_lengths

CORNER = np.array([[1, 1, 0], [1, 1, 0]], dtype=bool)


def theirs(mask):
    return coco.encode(np.asfortranarray(mask, dtype=np.uint8))["counts"].decode()


def random_masks():
    rng = np.random.default_rng(0)
    for share in (0.0, 0.02, 0.5, 0.98, 1.0):
        for height, width in ((1, 1), (1, 9), (7, 1), (13, 29), (480, 640)):
            yield rng.random((height, width)) < share
    blocks = np.zeros((3000, 2000), dtype=bool)
    blocks[:, 1500:1700] = True  # runs of millions of pixels
    yield blocks


def test_codes_are_cocos_own():
    for mask in random_masks():
        assert encode(mask) == theirs(mask)
        assert (decode(encode(mask), *mask.shape) == mask).all()


def test_a_mask_that_does_not_lie_in_memory_row_by_row_has_the_same_code():
    mask = next(m for m in random_masks() if m.shape == (13, 29) and m.any())
    assert encode(np.asfortranarray(mask)) == encode(mask) == theirs(mask)


@pytest.mark.parametrize(
    "counts", ["", "0", encode(np.ones((3, 3), bool)), "~~", "0P", "PPPPPPPPPP0", "é"]
)  # fmt: skip
def test_codes_of_another_size_or_none_at_all_are_refused(counts):
    with pytest.raises(ValueError, match="run lengths"):
        decode(counts, 2, 3)


@pytest.mark.parametrize(
    ("counts", "problem"),
    [
        ("0~", "'~' after 1 runs"),
        ("PPPPPPP0", "'0' after 0 runs"),  # the eighth of a run
        ("0P", "the last one is"),
    ],
)
def test_what_is_no_code_of_run_lengths_is_named(counts, problem):
    with pytest.raises(ValueError, match=f"not compressed run lengths: {problem}"):
        run_lengths(counts)


@pytest.mark.parametrize(
    ("box", "pixels"),
    [
        ((0, 0, 2, 2), CORNER),
        ((0.5, 0.0, 1.0, 2.0), CORNER),  # half of two pixels: both
        ((0.1, 0.1, 1.5, 1.5), CORNER),
        ((0.7, 0, 0.1 + 0.2 + 1.0, 2), CORNER),  # ends at 2.0000000000000004
        ((2.9999999, 1.9999999, 0.0000001, 0.0000001), [[0, 0, 0], [0, 0, 1]]),
        ((1.4, 0.4, 0.01, 0.01), [[0, 1, 0], [0, 0, 0]]),  # smaller than a pixel
    ],
)
def test_a_box_takes_every_pixel_that_it_overlaps(box, pixels):
    assert (rasterise_boxes([box], 2, 3) == np.asarray(pixels, dtype=bool)).all()


def test_a_mask_is_the_union_whatever_the_order():
    boxes = [(0, 0, 2, 1), (1, 0, 1, 2), (1.2, 0.1, 0.5, 0.5)]
    union = [[1, 1, 0], [0, 1, 0]]
    assert (rasterise_boxes(boxes, 2, 3) == union).all()
    assert (rasterise_boxes(boxes[::-1], 2, 3) == union).all()
    assert not rasterise_boxes([], 2, 3).any()


def test_segmentations_of_every_form_give_the_same_pixels():
    polygons = [[0, 0, 2, 0, 2, 2, 0, 2]]
    for segmentation in (
        polygons,
        {"size": [2, 3], "counts": [0, 4, 2]},
        {"size": [2, 3], "counts": encode(CORNER)},
    ):
        assert (rasterise_segmentation(segmentation, 2, 3) == CORNER).all()


def test_polygons_of_one_object_are_united():
    two = [[0, 0, 1, 0, 1, 2, 0, 2], [2, 0, 3, 0, 3, 2, 2, 2]]
    assert (rasterise_segmentation(two, 2, 3) == [[1, 0, 1], [1, 0, 1]]).all()


def test_a_triangle_is_enough_and_takes_the_pixels_whose_centre_it_holds():
    triangle = [[0, 0, 4, 0, 0, 4]]
    assert (rasterise_segmentation(triangle, 3, 4) == [[1, 1, 1, 0], [1, 1, 0, 0], [1, 0, 0, 0]]).all()
