import numpy as np
import pytest

from trivium.measures.bootstrap import resampled_totals


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
