"""Intervals over pictures: agreement with the bootstrap of one mean, and what is left out."""

import numpy as np
import pytest

from trivium.decorrelation.evaluation.tables import PictureBootstrap
from trivium.measures.bootstrap import clustered_interval

SETTINGS = {"confidence": 0.9, "resamples": 4000}


def test_agrees_with_the_clustered_interval():
    rng = np.random.default_rng(1)
    pictures = rng.integers(60, size=200)
    values = rng.random(200) + pictures / 60
    found = PictureBootstrap(pictures, **SETTINGS, seed=0).interval(values)
    expected = clustered_interval(values, pictures, **SETTINGS, seed=3)
    assert found == pytest.approx(expected, abs=0.02)


def test_values_that_are_not_known_are_left_out():
    pictures = np.repeat(np.arange(30), 2)
    values = np.arange(60.0)
    half = np.where(np.arange(60) % 2, values, np.nan)
    bootstrap = PictureBootstrap(pictures, **SETTINGS, seed=0)
    low, high = bootstrap.interval(half)
    assert low < values[1::2].mean() < high
    assert (low, high) == pytest.approx(PictureBootstrap(pictures[1::2], **SETTINGS, seed=0).interval(values[1::2]))


def test_the_order_of_the_queries_does_not_matter():
    pictures, values = np.arange(20) // 3, np.arange(20.0) % 7
    order = np.random.default_rng(0).permutation(20)
    one = PictureBootstrap(pictures, **SETTINGS, seed=0).interval(values)
    other = PictureBootstrap(pictures[order], **SETTINGS, seed=0).interval(values[order])
    assert one == pytest.approx(other)


@pytest.mark.parametrize("pictures", [[1, 1, 1], [1, 2, 2]])
def test_fewer_than_two_pictures_have_no_interval(pictures):
    values = [np.nan, 1.0, 2.0]
    assert PictureBootstrap(np.array(pictures), **SETTINGS, seed=0).interval(values) is None
