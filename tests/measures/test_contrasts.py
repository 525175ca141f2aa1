"""The mean of contrasts and its error, by hand, by another formula and by simulation."""

import numpy as np
import pytest
from scipy import stats

from trivium.measures.bootstrap import mean_contrast


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
