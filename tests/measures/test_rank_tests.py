"""Mann-Whitney and signed ranks: by hand, signed ranks against SciPy, and what must not matter."""

import numpy as np
import pytest
import scipy.stats

from trivium.measures.effects import mann_whitney, signed_rank


def scores(rows=5, n=90, seed=0):
    return np.random.default_rng(seed).choice([0, 0, 0.25, 0.5, 1, 1, 1], (rows, n)) * 1.0


def test_u_by_hand():
    # Ranks 1, 2.5 | 2.5, 4, 5: R = 3.5, U = 3.5 - 2·3/2; σ² = 2·3/12·(6 - 6/(5·4)); z = (|U - 3| - ½) / σ.
    p = mann_whitney([[0, 1, 1, 2, 3]], [True, True, False, False, False])
    sigma = (6 / 12 * (6 - 6 / 20)) ** 0.5
    assert p[0] == pytest.approx(2 * scipy.stats.norm.sf(2 / sigma), rel=1e-13)


def test_u_does_not_depend_on_order_side_or_scale():
    values, yes = scores(seed=1), np.arange(90) < 40
    p = mann_whitney(values, yes)
    order = np.random.default_rng(2).permutation(90)
    assert mann_whitney(values[:, order], yes[order]).tolist() == p.tolist()
    assert mann_whitney(values, ~yes) == pytest.approx(p, rel=1e-13)
    assert mann_whitney(np.exp(values), yes).tolist() == p.tolist()


def test_scores_that_are_all_equal_say_nothing():
    assert mann_whitney(np.ones((2, 20)), np.arange(20) < 8).tolist() == [1, 1]


def test_signed_ranks_by_hand_and_by_scipy():
    # |d| ranked 1 2 3.5 3.5 without the zero; W = 2, mean 5, variance (4·5·9 - 6/2) / 24; half a rank for continuity.
    p = signed_rank([[-1, 2, -3, -3, 0], [-1, 2, 3, -3, 0]])
    assert p == pytest.approx([2 * scipy.stats.norm.sf(z / (177 / 24) ** 0.5) for z in (2.5, 0)], rel=1e-13)
    differences = scores(6, 30, seed=3) - scores(6, 30, seed=4)
    for row, p in zip(differences, signed_rank(differences), strict=True):
        theirs = scipy.stats.wilcoxon(row, zero_method="wilcox", method="asymptotic", correction=True)
        assert p == pytest.approx(theirs.pvalue, rel=1e-12)


def test_few_signed_ranks_are_exact():
    # Five of one sign: the two most extreme of 2⁵ outcomes; no p at or below 0.05 exists.
    assert signed_rank([[1, 2, 3, 4, 5], [-5, -1, -2, -3, -4]]).tolist() == [2 / 32, 2 / 32]
    assert signed_rank([[1, 2, 3, 4, 5, 6]]).tolist() == [2 / 64]
    assert signed_rank([[1, -2, 3, -4]]).tolist() == [14 / 16]  # W = 4 of 10: sums of 0, 1, 2, 3, 3, 4, 4
    for n in (1, 2, 7, 24, 25, 26, 40):
        differences = np.random.default_rng(n).normal(0.3, 1, (4, n))
        method = {"method": "exact"} if n <= 25 else {"method": "asymptotic", "correction": True}
        theirs = scipy.stats.wilcoxon(differences, axis=1, **method).pvalue
        assert signed_rank(differences) == pytest.approx(theirs, rel=1e-12)


def test_signed_ranks_of_nothing():
    assert signed_rank([[0, 0, 0], [1, 2, 3], [0, 0, 0]]).tolist() == [1, 2 / 8, 1]
