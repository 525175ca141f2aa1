"""Randomization test, letters, Holm and bootstrap: by hand, against SciPy and ranx, and what must not matter."""

import gc
import itertools
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from ranx.statistical_tests.fisher_randomization_test import fisher_randomization_test
from statsmodels.stats.multitest import multipletests

from trivium.core.errors import BadInput
from trivium.measures import significance
from trivium.measures.significance import bootstrap_interval, fisher_randomization, holm, superscripts


def systems(seed, queries=80, count=4):
    rng = np.random.default_rng(seed)
    return rng.choice([0.0, 1 / 3, 1 / 2, 1.0], (count, queries)) * np.linspace(0.7, 1, count)[:, None]


def test_exact_p_by_hand():
    # Differences 3, 2, 1: |±3 ±2 ±1| ≥ 6 for two of the eight sign vectors; with a third system equal to the second.
    p = fisher_randomization([[3, 2, 1], [0, 0, 0], [0, 0, 0]])
    assert p[0, 1] == p[1, 0] == p[0, 2] == 2 / 8
    assert p[1, 2] == 1.0
    assert np.diag(p).tolist() == [1, 1, 1]


@pytest.mark.parametrize("queries", range(1, 11))
def test_p_of_differences_of_one_sign_is_exact_where_all_signs_are_tried(queries):
    # Two of 2ⁿ sign vectors reach the sum.
    values = [np.ones(queries), np.zeros(queries)]
    assert fisher_randomization(values, permutations=2**queries)[0, 1] == 2 / 2**queries


def test_exact_p_counts_ties_that_rounding_hides():
    # 0.1 + 0.2 + 0.3 differs from 0.3 + 0.2 + 0.1 in the last bit; fractions do not.
    values = [[0.1, 0.2, 0.3, 0.3, 0.7, 0.1], [0.3, 0.1, 0.2, 0.2, 0.1, 0.3]]
    differences = [Fraction(str(a)) - Fraction(str(b)) for a, b in zip(*values, strict=True)]
    sums = [
        abs(sum(sign * d for sign, d in zip(signs, differences, strict=True)))
        for signs in itertools.product((1, -1), repeat=6)
    ]
    assert fisher_randomization(values)[0, 1] == sum(s >= abs(sum(differences)) for s in sums) / 2**6


def test_exact_p_agrees_with_scipy():
    values = systems(0, queries=10)
    p = fisher_randomization(values)
    for a, b in itertools.combinations(range(4), 2):
        expected = scipy.stats.permutation_test(
            (values[a] - values[b],), lambda d: abs(d.sum()), permutation_type="samples", n_resamples=np.inf,
            alternative="greater", vectorized=False,
        )  # fmt: skip
        assert p[a, b] == pytest.approx(expected.pvalue)


def test_drawn_p_is_near_the_exact_one_and_never_zero():
    values = systems(1, queries=14)
    exact, drawn = (
        fisher_randomization(values, permutations=2**14),
        fisher_randomization(values, permutations=2**14 - 1),
    )
    error = np.sqrt(exact * (1 - exact) / 2**14)
    assert (np.abs(exact - drawn) <= 5 * error + 1 / 2**14).all()
    far = np.stack([np.zeros(200), np.ones(200)])
    assert fisher_randomization(far, permutations=999)[0, 1] == 1 / (999 + 1)


def test_drawn_p_agrees_with_ranx():
    values, draws = systems(2, queries=40, count=3), 2000
    p = fisher_randomization(values, permutations=draws)
    for a, b in itertools.combinations(range(3), 2):
        theirs, _ = fisher_randomization_test(values[a], values[b], n_permutations=draws)
        assert p[a, b] == pytest.approx(theirs, abs=5 * np.sqrt(2 * p[a, b] * (1 - p[a, b]) / draws) + 1 / draws)


def test_the_test_keeps_its_level():
    rng = np.random.default_rng(5)
    rejected = sum(fisher_randomization(rng.random((2, 30)), permutations=199)[0, 1] <= 0.1 for _ in range(300))
    assert rejected <= scipy.stats.binom.ppf(0.9999, 300, 0.1)
    assert rejected >= scipy.stats.binom.ppf(0.0001, 300, 0.1)


@pytest.mark.parametrize("chunk", [1, 1 << 10, 1 << 16, 1 << 24])
@pytest.mark.parametrize("queries", [9, 83])
def test_chunks_do_not_matter(monkeypatch, chunk, queries):
    values = systems(3, queries=queries)
    expected = fisher_randomization(values, permutations=1000, seed=4)
    interval = bootstrap_interval(values[0], resamples=1000, seed=4)
    monkeypatch.setattr(significance, "_CHUNK_BYTES", chunk)
    np.testing.assert_array_equal(fisher_randomization(values, permutations=1000, seed=4), expected)
    assert bootstrap_interval(values[0], resamples=1000, seed=4) == pytest.approx(interval, abs=1e-12)


def test_the_order_of_systems_does_not_matter_and_the_seed_does():
    values, order = systems(3), [2, 0, 3, 1]
    p = fisher_randomization(values, permutations=2000)
    np.testing.assert_array_equal(fisher_randomization(values[order], permutations=2000), p[np.ix_(order, order)])
    assert (fisher_randomization(values, permutations=2000, seed=1) != p).any()


def test_letters_name_the_systems_beaten():
    values = [[1.0, 1.0], [3.0, 3.0], [2.0, 2.0]]
    p = np.array([[1, 0.01, 0.2], [0.01, 1, 0.011], [0.2, 0.011, 1]])
    assert superscripts(values, p) == ["", "a", ""]
    assert superscripts(values, p, level=0.05) == ["", "ac", ""]
    assert superscripts(values, p, level=0.5) == ["", "ac", "a"]
    assert superscripts([[1.0, 2.0], [2.0, 1.0]], [[1, 0.01], [0.01, 1]]) == ["", ""]  # whoever gives such a p
    with pytest.raises(TypeError, match="positional"):
        superscripts(values, p, 0.05)
    with pytest.raises(BadInput, match="more systems than letters; got 27"):
        superscripts(np.zeros((27, 2)), np.ones((27, 27)))


def test_bootstrap_of_two_values_by_hand():
    # Means of two draws from {0, 1}: 0, ½, 1 with probabilities ¼, ½, ¼.
    assert bootstrap_interval([0.0, 1.0], confidence=0.4) == (0.5, 0.5)
    assert bootstrap_interval([0.0, 1.0], confidence=0.6) == (0.0, 1.0)
    assert bootstrap_interval([2.0, 2.0, 2.0]) == (2.0, 2.0)


def test_bootstrap_agrees_with_scipy_and_the_normal_approximation():
    values = np.random.default_rng(0).random(400)
    low, high = bootstrap_interval(values, confidence=0.9)
    theirs = scipy.stats.bootstrap((values,), np.mean, confidence_level=0.9, method="percentile", rng=1)
    assert (low, high) == pytest.approx(tuple(theirs.confidence_interval), abs=2e-3)
    half = 1.645 * values.std() / np.sqrt(400)
    assert (low, high) == pytest.approx((values.mean() - half, values.mean() + half), abs=2e-3)


@pytest.fixture(scope="module", autouse=True)
def _little_to_collect() -> Iterator[None]:
    """`multipletests` collects garbage at each call, of all that the suite holds."""
    gc.freeze()
    yield
    gc.unfreeze()


def test_by_hand() -> None:
    # Sorted .01 .02 .03 .5 times 4 3 2 1 = .04 .06 .06 .5, already non-decreasing.
    assert holm(np.array([[0.5, 0.02], [0.01, 0.03]])) == pytest.approx(np.array([[0.5, 0.06], [0.04, 0.06]]))
    assert holm(np.array([0.7, 0.8])) == pytest.approx([1.0, 1.0])


def test_what_has_no_p_is_no_test() -> None:
    # The second product, .012 · 2, is below the first, .01 · 3: it is raised to it. The last stays at 1.
    assert holm(np.array([0.01, np.nan, 0.012, 1.0])) == pytest.approx([0.03, np.nan, 0.03, 1.0], nan_ok=True)
    assert np.isnan(holm(np.array([np.nan]))).all()
    assert holm(np.array([])).shape == (0,)


@given(st.lists(st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.01, 0.05, 1.0])), min_size=1, max_size=50))
def test_as_statsmodels_to_the_bit(p: list[float]) -> None:
    assert (holm(np.array(p)) == multipletests(p, method="holm")[1]).all()
