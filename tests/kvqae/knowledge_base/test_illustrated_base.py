"""The parts of a knowledge base, by whether its articles have an image that can be read and shows a face."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from trivium.kvqae.knowledge_base.illustrated_base import IllustratedBase, ImageFeatures

HUMAN = np.array([True, True, True, False, False])
ROWS = np.array([0, 1, -1, 2, -1])  # -1: no such image


def base(detected: list[bool], readable: list[bool], images: list[int]) -> IllustratedBase:
    features = ImageFeatures(
        Path("features"), pa.chunked_array([[f"{row}.jpg" for row in range(len(detected))]], pa.string()),
        np.array(detected, bool), np.array(readable, bool)
    )  # fmt: skip
    return IllustratedBase(np.arange(5), np.array(images), HUMAN, np.arange(6), features)


def test_the_parts_are_disjoint_and_a_missing_image_shows_no_face() -> None:
    parts = base([True, False, True], [True, True, False], ROWS.tolist()).parts()
    assert parts["humans_with_face"].tolist() == [True, False, False, False, False]
    assert parts["humans_without_face"].tolist() == [False, True, True, False, False]
    assert parts["non_humans"].tolist() == [False, False, False, True, True]


@pytest.mark.parametrize("detected", [[True, True, True], []])
def test_what_is_missing_cannot_be_read(detected: list[bool]) -> None:
    images = ROWS.tolist() if detected else [-1] * 5
    expected = [True, False, False, True, False] if detected else [False] * 5
    of = base(detected, [True, False, True][: len(detected)], images)
    assert of.readable().tolist() == expected
    assert not of.parts()["humans_with_face"][np.array(images) < 0].any()
