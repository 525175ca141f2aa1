"""Bootstrap of whole clusters: against a plain loop, and where it must equal or exceed the usual bootstrap."""

import numpy as np
import pytest
from scipy import stats

from trivium.measures.bootstrap import Sides, clustered_interval, mean_contrast, over_trainings, resampled_totals
from trivium.measures.significance import bootstrap_interval


@pytest.mark.parametrize("resamples", [1, 5])  # the only one leaves out the last item
def test_every_resample_draws_as_many_items_as_there_are(resamples):
    counts = resampled_totals(np.random.default_rng(0), np.eye(7), resamples)
    assert counts.shape == (resamples, 7)
    assert (counts.sum(axis=1) == 7).all()


def test_counts_are_those_of_a_multinomial():
    """Mean 1, variance 1 - 1 / n, covariance -1 / n."""
    n, resamples = 4, 200_000
    counts = resampled_totals(np.random.default_rng(1), np.eye(n), resamples)
    expected = np.eye(n) - 1 / n
    assert np.allclose(counts.mean(axis=0), 1, atol=0.01)
    assert np.allclose(np.cov(counts.T), expected, atol=0.02)


def test_one_item_is_drawn_every_time():
    assert (resampled_totals(np.random.default_rng(0), np.ones((1, 1)), 3) == 1).all()


KEYS = {"confidence": 0.95, "resamples": 4000, "seed": 0}


def sample(clusters=40, size=6, effect=1.0):
    rng = np.random.default_rng(1)
    labels = np.repeat([f"t{number}" for number in range(clusters)], size)
    return rng.normal(size=len(labels)) + effect * np.repeat(rng.normal(size=clusters), size), labels


def test_agrees_with_a_loop_that_draws_clusters():
    values, labels = sample()
    values, labels = values[:-4], labels[:-4]  # clusters of different size
    rng = np.random.default_rng(5)
    groups = [values[labels == label] for label in np.unique(labels)]
    means = [
        np.concatenate([groups[drawn] for drawn in rng.integers(len(groups), size=len(groups))]).mean()
        for _ in range(4000)
    ]
    np.testing.assert_allclose(
        clustered_interval(values, labels, **KEYS), np.quantile(means, [0.025, 0.975]), atol=0.03
    )


def test_clusters_of_one_are_the_usual_bootstrap_and_real_clusters_are_wider():
    values, labels = sample()
    alone = clustered_interval(values, np.arange(len(values)), **KEYS)
    np.testing.assert_allclose(alone, bootstrap_interval(values, resamples=4000, seed=0), atol=0.02)
    low, high = clustered_interval(values, labels, **KEYS)
    assert high - low > 1.5 * (alone[1] - alone[0])


def test_order_does_not_matter_and_equal_values_have_no_width():
    values, labels = sample(clusters=8)
    order = np.random.default_rng(0).permutation(len(values))
    expected = clustered_interval(values, labels, **KEYS)
    assert clustered_interval(values[order], labels[order], **KEYS) == pytest.approx(expected)
    assert clustered_interval([0.5, 0.5, 0.5], list("aab"), **KEYS) == (0.5, 0.5)
    assert clustered_interval([0.1, 0.9], list("aa"), **KEYS) == (0.5, 0.5)  # one cluster: nothing to draw


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


def test_one_training_is_the_t_interval_of_the_facts() -> None:
    values = np.array([[3.0], [-1.0], [4.0], [2.0]])
    mean = mean_contrast([values])
    theirs = stats.ttest_1samp(values[:, 0], 0).confidence_interval(0.95)
    assert mean.value == 2
    assert mean.interval() == pytest.approx(tuple(theirs))
    assert mean.freedom == 3


def test_facts_and_trainings_by_hand() -> None:
    # Means of facts 1, 3 (variance 2, of 2 facts: 1); of trainings 0, 4 (variance 8, of 2: 4).
    mean = mean_contrast([np.array([[-1.0, 3.0], [1.0, 5.0]])])
    assert (mean.value, mean.error**2) == (2, pytest.approx(5))
    assert mean.freedom == pytest.approx(25 / (1 + 16))
    # Another world of the same: half of the variance of facts, cells 0, 4, 0, 4 (variance 16 / 3, of 4).
    both = mean_contrast([np.array([[-1.0, 3.0], [1.0, 5.0]])] * 2)
    assert both.error**2 == pytest.approx(1 / 2 + 4 / 3)


def test_worlds_weigh_alike_whatever_they_have() -> None:
    worlds = [np.full((2, 1), 1.0), np.full((50, 3), 4.0)]
    assert mean_contrast(worlds).value == 2.5


def test_the_interval_holds_the_truth_as_often_as_it_says() -> None:
    rng, held = np.random.default_rng(0), 0
    for _ in range(400):
        worlds = [rng.normal(0, 3, (40, 1)) + rng.normal(0, 1, 3) + rng.normal(0, 6, (40, 3)) + 1 for _ in range(3)]
        low, high = mean_contrast(worlds).interval()
        held += low < 1 < high
    assert 0.93 < held / 400 <= 1
