"""Cluster-robust errors of δ: against statsmodels, and what the smallest δ promises."""

import numpy as np
import pytest
import statsmodels.api as sm

from trivium.measures.effects import clustered_difference, mean_differences, same_loss


def world(seed: int = 0, questions: int = 400, clusters: int = 40):
    rng = np.random.default_rng(seed)
    cluster = rng.integers(clusters, size=questions)
    scores = rng.random((2, questions)) + 0.3 * rng.random(clusters)[cluster]
    factors = rng.choice([1, 0, -1], size=(3, questions), p=[0.3, 0.5, 0.2]).astype(np.int8)
    return scores, factors, cluster


def test_the_same_as_statsmodels():
    scores, factors, cluster = world()
    found = clustered_difference(scores, factors, cluster)
    low, high = found.interval(0.9)
    for model in range(2):
        for factor in range(3):
            kept = factors[factor] >= 0
            design = sm.add_constant((factors[factor][kept] == 1).astype(float))
            _, groups = np.unique(cluster[kept], return_inverse=True)
            theirs = sm.OLS(100 * scores[model][kept], design).fit(
                cov_type="cluster", cov_kwds={"groups": groups}, use_t=True
            )
            assert found.delta[model, factor] == pytest.approx(theirs.params[1], abs=1e-9)
            assert found.standard_error[model, factor] == pytest.approx(theirs.bse[1], rel=1e-9)
            assert found.p[model, factor] == pytest.approx(theirs.pvalues[1], rel=1e-6)
            assert (low[model, factor], high[model, factor]) == pytest.approx(theirs.conf_int(0.1)[1], rel=1e-9)


def test_the_same_loss_is_shown_by_two_regressions():
    scores, factors, cluster = world()
    scores -= 0.5 * (factors[0] == 1)
    plain = scores[0] + np.random.default_rng(3).normal(0, 0.05, scores.shape[1])
    p = same_loss(scores, plain, factors[:1], cluster, 0.2)[:, 0]
    kept = factors[0] >= 0
    design = sm.add_constant((factors[0][kept] == 1).astype(float))
    _, groups = np.unique(cluster[kept], return_inverse=True)
    for model in range(2):
        sides = []
        for share, sign in ((0.8, 1), (1.2, -1)):
            difference = sign * 100 * (share * scores[model] - plain)[kept]
            fit = sm.OLS(difference, design).fit(cov_type="cluster", cov_kwds={"groups": groups}, use_t=True)
            sides.append(fit.pvalues[1] / 2 if fit.params[1] > 0 else 1 - fit.pvalues[1] / 2)
        assert p[model] == pytest.approx(max(sides), rel=1e-6)
    assert p[0] < 0.001
    assert same_loss(scores, 0.5 * plain, factors[:1], cluster, 0.2)[0, 0] > 0.99


def test_a_loss_at_the_margin_passes_for_the_same_as_rarely_as_the_risk():
    rng = np.random.default_rng(2)
    cluster = np.repeat(np.arange(60), 10)
    factor = (rng.random((1, 600)) < 0.4).astype(np.int8)
    plain = rng.normal(0.5, 0.1, 600) - 0.16 * factor[0]
    scores = rng.normal(0.5, 0.1, (2000, 600)) - 0.2 * factor[0]  # the other loses 80 %: exactly at the margin
    baseline = mean_differences(plain[None], factor)[0, 0]
    scores += (0.16 + baseline / 100) / 0.8 * factor[0]  # whatever this draw of it loses
    passed = same_loss(scores, plain, factor, cluster, 0.2)[:, 0] <= 0.05
    assert passed.mean() < 0.05 + 0.015


def test_the_smallest_difference_is_found_as_often_as_it_says():
    rng = np.random.default_rng(1)
    questions, clusters = 600, 60
    cluster = np.repeat(np.arange(clusters), questions // clusters)
    factor = (rng.random((1, questions)) < 0.4).astype(np.int8)
    noise = rng.normal(0.5, 0.2, (600, questions)) + rng.normal(0, 0.1, (600, clusters))[:, cluster]
    smallest = clustered_difference(noise, factor, cluster).smallest(0.05, 0.8).mean()
    planted = noise - smallest / 100 * factor
    found = clustered_difference(planted, factor, cluster).p[:, 0] <= 0.05
    assert found.mean() == pytest.approx(0.8, abs=0.06)


def test_three_questions_in_two_clusters_by_hand():
    # Yes: 0.2 and 0.6, mean 0.4; no: 0.1. Sums of e / n over clusters: -0.2/2 and 0.2/2; G/(G-1) (N-1)/(N-2) = 2 · 2.
    found = clustered_difference([[0.2, 0.6, 0.1]], [[1, 1, 0]], [0, 1, 1])
    assert found.delta[0, 0] == pytest.approx(30)
    assert found.standard_error[0, 0] == pytest.approx(100 * np.sqrt(4 * (0.1**2 + 0.1**2)))
    assert found.clusters.tolist() == [2]


def test_what_cannot_be_told_has_no_error():
    scores, factors, cluster = world()
    for side in (1, 0):
        factors[0] = side
        with np.errstate(all="raise"):  # nothing is divided by the size of the side that is empty
            assert np.isnan(clustered_difference(scores, factors, cluster).standard_error[:, 0]).all()
    alone = clustered_difference(scores, factors, np.zeros(len(cluster), int))
    assert np.isnan(alone.standard_error).all()
    assert np.isnan(alone.p).all()
    same = clustered_difference(np.ones((1, len(cluster))), factors[1:], cluster)
    assert (same.p == 1).all()
