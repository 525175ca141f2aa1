import numpy as np
import pytest
from scipy import stats

from trivium.measures.bootstrap import Sides, over_trainings
from trivium.measures.significance import bootstrap_interval


def paired(better, other):
    better, other = np.atleast_2d(np.asarray(better, float)), np.atleast_2d(np.asarray(other, float))
    return Sides(better, np.ones_like(better), other, np.ones_like(other))


def test_by_hand():
    """Two trainings of two items; (1 + 0) / 2 - (0 + 0) / 2 = .5, and (1 + 1) / 2 - (0 + 1) / 2 = .5."""
    sides = paired([[1, 0], [1, 1]], [[0, 0], [0, 1]])
    assert sides.differences().tolist() == [0.5, 0.5]
    found = over_trainings(sides)
    assert found.value == 0.5
    # A resample takes one training and, of the items, both (half of the time), or twice the first, or twice the second.
    assert (found.low, found.high) == (0, 1)
    assert found.error == pytest.approx(np.sqrt(1 / 8), abs=0.01)  # of 0, 1/2, 1/2, 1
    assert found.smallest == pytest.approx((stats.norm.ppf(0.975) + stats.norm.ppf(0.8)) * found.error)
    assert found.p_items == 1  # of four signs of (1, 0), all are as large


def test_one_training_is_the_bootstrap_over_items():
    values = np.random.default_rng(0).normal(0.1, 1, size=300)
    found = over_trainings(paired(values, np.zeros(300)))
    assert (found.low, found.high) == pytest.approx(bootstrap_interval(values), abs=0.01)
    assert found.error == pytest.approx(values.std(ddof=1) / np.sqrt(300), rel=0.03)


def test_trainings_that_differ_widen_the_interval():
    """Without any noise of items the error of a mean of T trainings is s / √T; T draws would give √((T - 1) / T) of it."""
    levels = np.array([[0.0], [0.3], [0.9]])
    found = over_trainings(paired(np.tile(levels, 50), np.zeros((3, 50))), resamples=20_000)
    assert found.error == pytest.approx(levels.std(ddof=1) / np.sqrt(3), rel=0.03)
    assert found.p_items == pytest.approx(1e-5, rel=0.01), "the test over items knows nothing of trainings"


def test_sides_of_other_sizes_are_means_of_their_own():
    """A factor's δ: texts of 2 + 1 and 1 + 3 questions; 1.5 / 3 - 2 / 4 = 0."""
    sides = Sides(*(np.array([row], float) for row in ([1, 0.5], [2, 1], [1, 1], [1, 3])))
    found = over_trainings(sides)
    assert found.value == 0
    assert found.p_items is None
    # A resample is of both texts, or twice the first, 1/2 - 1, or twice the second, 1/2 - 1/3.
    assert (found.low, found.high) == pytest.approx((-0.5, 1 / 6))
    # More on one side for every item is no pair either.
    assert over_trainings(Sides(sides.better, np.full((1, 2), 2.0), sides.other, np.ones((1, 2)))).p_items is None


def test_resamples_that_leave_a_side_empty_are_left_out():
    sides = Sides(*(np.array([row], float) for row in ([1, 0], [1, 0], [0, 0], [0, 1])))
    assert over_trainings(sides).value == 1
    assert (over_trainings(sides).low, over_trainings(sides).high) == (1, 1)


def test_weights_are_repeated_items():
    rng = np.random.default_rng(1)
    values, times = rng.random((2, 40)), rng.integers(1, 4, size=40)
    weighted = Sides(values * times, np.tile(times, (2, 1)) * 1.0, values * 0, np.tile(times, (2, 1)) * 1.0)
    repeated = paired(np.repeat(values, times, axis=1), np.zeros((2, times.sum())))
    assert weighted.differences() == pytest.approx(repeated.differences())


@pytest.mark.parametrize(("trainings", "least"), [(1, 0.7), (3, 0.9)])
def test_the_interval_holds_the_truth(trainings, least):
    """Over simulated studies with noise of trainings and of items; of one training it cannot know the first."""
    rng = np.random.default_rng(2)
    held = 0
    for study in range(200):
        values = 0.2 + rng.normal(0, 0.05, (trainings, 1)) + rng.normal(0, 1, 200) + rng.normal(0, 1, (trainings, 200))
        found = over_trainings(paired(values, np.zeros_like(values)), resamples=400, permutations=10, seed=study)
        held += found.low <= 0.2 <= found.high
    assert held / 200 >= least


def test_the_order_of_items_and_trainings_changes_only_the_draw():
    rng = np.random.default_rng(3)
    values, order = rng.random((3, 100)), rng.permutation(100)
    one, two = (over_trainings(paired(each, each * 0), resamples=20_000) for each in (values, values[::-1, order]))
    assert (one.value, one.p_items) == pytest.approx((two.value, two.p_items))
    assert (one.low, one.high) == pytest.approx((two.low, two.high), abs=0.005)
