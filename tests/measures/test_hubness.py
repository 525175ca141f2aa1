"""k-occurrence and its skewness, against scipy."""

import numpy as np
import pytest
from scipy.stats import skew

from trivium.measures.recall import k_occurrences, occurrence_skew


def test_by_hand():
    neighbours = [[0, 1], [0, 2], [0, 1]]
    assert k_occurrences(neighbours, 4).tolist() == [3, 2, 1, 0]
    assert occurrence_skew(neighbours, 4) == 0  # even around the mean of 1.5
    # Counts 3, 0, 0: mean 1, variance 2, third moment (8 - 1 - 1) / 3 = 2.
    assert occurrence_skew([[0], [0], [0]], 3) == pytest.approx(2 / 2**1.5)


def test_it_is_scipys_skewness_of_the_counts():
    rng = np.random.default_rng(0)
    for size in (5, 100, 5000):
        neighbours = (size * rng.random((200, 10)) ** 3).astype(np.int64)
        counts = np.bincount(neighbours.ravel(), minlength=size)
        assert occurrence_skew(neighbours, size) == pytest.approx(skew(counts))
        assert occurrence_skew(rng.permutation(neighbours.ravel()), size) == pytest.approx(skew(counts))


def test_a_hub_makes_it_larger():
    rng = np.random.default_rng(1)
    even = rng.integers(0, 50, (100, 10))
    hub = even.copy()
    hub[:, 0] = 7
    assert occurrence_skew(hub, 50) > occurrence_skew(even, 50) + 1


def test_items_that_all_occur_equally_often_have_none():
    assert occurrence_skew([[0, 1], [2, 3]], 4) == 0
    assert occurrence_skew([], 4) == 0


@pytest.mark.parametrize(("neighbours", "size"), [([[4]], 4), ([[5]], 4), ([[-1]], 4), ([], 0)])
def test_rows_that_the_gallery_lacks_are_refused(neighbours, size):
    with pytest.raises(ValueError, match="rows of a gallery"):
        k_occurrences(neighbours, size)
