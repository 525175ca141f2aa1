import numpy as np
import pytest
from scipy import stats

from trivium.measures.stouffer import stouffer


def test_against_scipy():
    rng = np.random.default_rng(0)
    for count in (1, 2, 3, 10):
        differences, p = rng.normal(size=count), rng.uniform(1e-6, 1, count)
        upper = np.where(differences > 0, p / 2, 1 - p / 2)  # one-sided
        combined = stats.combine_pvalues(upper, method="stouffer").pvalue
        assert stouffer(differences, p) == pytest.approx(2 * min(combined, 1 - combined))


def test_by_hand():
    assert stouffer([0.1], [0.03]) == pytest.approx(0.03)
    assert stouffer([0.1, -0.1], [0.03, 0.03]) == pytest.approx(1)  # they cancel out
    assert stouffer([0.0, 0.0], [1, 1]) == 1
    # z = 1.96 four times: Z = 4 · 1.96 / 2
    assert stouffer([1, 2, 3, 4], [0.05] * 4) == pytest.approx(2 * stats.norm.sf(2 * stats.norm.isf(0.025)))


def test_order_does_not_matter():
    assert stouffer([1, -1, 1], [0.2, 0.5, 0.01]) == pytest.approx(stouffer([1, 1, -1], [0.01, 0.2, 0.5]))


@pytest.mark.parametrize(
    ("differences", "p", "said"),
    [
        ([], [], "as many p as differences"),
        ([1, 2], [0.5], "as many p as differences"),
        ([1], [0], r"p should be in \(0, 1\]"),
        ([1], [1.5], r"p should be in \(0, 1\]"),
        ([1], [np.nan], r"p should be in \(0, 1\]"),
    ],
)
def test_refused(differences, p, said):
    with pytest.raises(ValueError, match=said):
        stouffer(differences, p)
