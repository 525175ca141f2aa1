"""Fleiss' κ against statsmodels, and on paper."""

import numpy as np
import pytest
from statsmodels.stats.inter_rater import fleiss_kappa as peer

from trivium.measures.agreement import fleiss_kappa


@pytest.mark.parametrize(("annotators", "categories"), [(2, 2), (3, 3), (7, 5)])
def test_equals_statsmodels_with_equal_numbers_of_annotators(annotators, categories):
    rng = np.random.default_rng(annotators)
    for items in (5, 60):
        shares = rng.dirichlet(np.ones(categories), size=items)
        counts = np.array([rng.multinomial(annotators, share) for share in shares])
        assert fleiss_kappa(counts) == pytest.approx(peer(counts, method="fleiss"), abs=1e-12)


def test_unequal_numbers_are_the_formula_on_paper():
    # P = [1, 1/3, 0]; p = mean of (1, 0), (2/3, 1/3), (1/2, 1/2) = (13/18, 5/18).
    counts = [[4, 0], [2, 1], [1, 1]]
    expected = (13 / 18) ** 2 + (5 / 18) ** 2
    assert fleiss_kappa(counts) == pytest.approx((4 / 9 - expected) / (1 - expected))


def test_items_of_one_annotator_or_none_do_not_count():
    counts = [[3, 0], [1, 2], [0, 3]]
    assert fleiss_kappa([*counts, [1, 0], [0, 0]]) == fleiss_kappa(counts)


def test_perfect_agreement_chance_and_order():
    assert fleiss_kappa([[3, 0], [0, 3]]) == pytest.approx(1)
    assert fleiss_kappa([[1, 1]] * 4) == pytest.approx(-1)
    counts = np.random.default_rng(0).multinomial(3, [0.5, 0.3, 0.2], size=4000)
    assert fleiss_kappa(counts) == pytest.approx(0, abs=0.03)
    assert fleiss_kappa(counts[::-1, ::-1]) == pytest.approx(fleiss_kappa(counts))


@pytest.mark.parametrize("counts", [[[3, 0], [3, 0]], [[1, 0], [0, 1]], np.zeros((0, 3))])
def test_undefined_is_none(counts):
    assert fleiss_kappa(counts) is None


@pytest.mark.parametrize("counts", [[1, 2], [[1.5, 1]], [[-1, 2]], [[float("nan"), 1]]])
def test_bad_counts(counts):
    with pytest.raises(ValueError, match="matrix of whole numbers"):
        fleiss_kappa(counts)
