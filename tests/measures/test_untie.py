import numpy as np
import pytest

from trivium.measures.reorder import untie


def below(value, steps=1):
    value = np.float32(value)
    for _ in range(steps):
        value = np.nextafter(value, np.float32(-np.inf))
    return float(value)


def test_scores_of_32_bits_that_differ_stay():
    scores = np.array([[3.5, 0.25, 0.0, -1.0, np.nan], [below(1.0), below(1.0, 2), below(1.0, 3), -2.5, -7.0]])
    np.testing.assert_array_equal(untie(scores), scores)


def test_equal_ones_step_down_and_push_those_that_they_reach():
    scores = np.array([[1.0, 1.0, 1.0, below(1.0), 0.5]])
    assert untie(scores).tolist() == [[1.0, below(1.0), below(1.0, 2), below(1.0, 3), 0.5]]


def test_what_differs_in_64_bits_only_is_told_apart():
    scores = np.array([[0.9277144074440002, 0.9277143974440002, np.nextafter(0.9277143974440002, 0)]])
    found = untie(scores)
    assert (np.diff(found.astype(np.float32)) < 0).all()
    assert np.abs(found - scores).max() < 3 * 2**-24


def test_zeros_of_both_signs_are_one_number():
    found = untie(np.array([[0.0, -0.0, 0.0], [1e-45, 0.0, -0.0]])).astype(np.float32)
    assert (np.diff(found) < 0).all()
    assert found[0].tolist() == [0.0, below(0.0), below(0.0, 2)]


@pytest.mark.parametrize("scale", [1e-40, 1.0, 1e30])
def test_any_list_keeps_its_order(scale):
    scores = -np.sort(-scale * np.random.default_rng(0).normal(size=(50, 200)).round(2), axis=1)
    found = untie(scores)
    assert (np.diff(found.astype(np.float32), axis=1) < 0).all()
    assert (found <= scores.astype(np.float32)).all()


@pytest.mark.parametrize("scores", [[1e39], [-3.4028234663852886e38, -3.4028234663852886e38], [np.inf, 0.0]])
def test_what_32_bits_cannot_hold_is_refused(scores):
    with pytest.raises(ValueError, match="not finite as a 32-bit float"):
        untie(np.array([scores]))


def test_no_lists_and_no_documents():
    assert untie(np.empty((0, 3))).shape == (0, 3)
    assert untie(np.empty((2, 0))).shape == (2, 0)
