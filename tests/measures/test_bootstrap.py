"""Bootstrap of whole clusters: against a plain loop, and where it must equal or exceed the usual bootstrap."""

import numpy as np
import pytest

from trivium.measures.bootstrap import clustered_interval, resampled_totals
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
