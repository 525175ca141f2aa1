"""The bench of clustered errors on a few questions: both peers give our effects, whatever the times."""

import numpy as np
import pytest

from bench import clustered_difference, harness


@pytest.fixture(autouse=True)
def few(monkeypatch):
    for name, value in (("MODELS", 3), ("FACTORS", 2), ("QUESTIONS", 60), ("CLUSTERS", 20)):
        monkeypatch.setattr(clustered_difference, name, value)
    monkeypatch.setattr(harness, "TRIALS", 1)


def test_both_peers_give_our_effects_though_some_clusters_are_empty(figures):
    _, factors, clusters = clustered_difference.world()
    assert len(np.unique(clusters[factors[0] >= 0])) < len(np.unique(clusters))
    clustered_difference.main()
    found = figures("clustered_difference")
    assert found["models_of_statsmodels_timed"] == 2
    race = found["races"]["3 × 2 cells, 60 questions, 20 clusters"]
    assert (race["popular"], race["expert"]) == ("statsmodels", "SciPy, one sparse product")


@pytest.mark.parametrize("peer", ["by_statsmodels", "by_product"])
def test_other_errors_end_the_bench(monkeypatch, peer):
    kept = getattr(clustered_difference, peer)

    def other(*given):
        delta, error = kept(*given)
        return delta, 1.001 * error

    monkeypatch.setattr(clustered_difference, peer, other)
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        clustered_difference.main()
