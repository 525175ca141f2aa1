"""Agreement of annotators and of models on hard examples: by hand, against SciPy, scikit-learn and statsmodels."""

import numpy as np
import pytest
import scipy.stats
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import fleiss_kappa as peer

from trivium.measures.agreement import fleiss_kappa, hardness_agreement


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


def scores(seed=0, models=3, n=80):
    rng = np.random.default_rng(seed)
    return np.clip(np.round(rng.normal(0.6, 0.4, n) + rng.normal(0, 0.3, (models, n)), 1), 0, 1)


def test_two_models_by_hand():
    # Hard (lowest quarter of 8): a 0 1, b 0 2. Both: 1 of 3; agreed 6/8; by chance (2·2 + 6·6)/64.
    a, b = [1, 2, 3, 4, 5, 6, 7, 8], [1, 3, 2, 4, 5, 6, 7, 8]
    agreement = hardness_agreement([a, b])
    assert agreement.overlap[0, 1] == pytest.approx(1 / 3)
    assert agreement.kappa[0, 1] == pytest.approx((6 / 8 - 40 / 64) / (1 - 40 / 64))
    assert agreement.spearman[0, 1] == pytest.approx(1 - 6 * 2 / (8 * 63))
    assert agreement.kendall[0, 1] == pytest.approx((27 - 1) / 28)
    assert agreement.concordance == pytest.approx((1 + agreement.spearman[0, 1]) / 2)


def test_agrees_with_scipy_and_scikit_learn():
    values = scores()
    agreement = hardness_agreement(values)
    for a in range(3):
        for b in range(3):
            assert agreement.spearman[a, b] == pytest.approx(scipy.stats.spearmanr(values[a], values[b]).statistic)
            assert agreement.kendall[a, b] == pytest.approx(scipy.stats.kendalltau(values[a], values[b]).statistic)
    hard = values <= np.quantile(values, 0.25, axis=1, method="lower", keepdims=True)
    assert agreement.kappa[0, 2] == pytest.approx(cohen_kappa_score(hard[0], hard[2]))
    # Friedman's χ² = m (n - 1) W, ties corrected.
    friedman = scipy.stats.friedmanchisquare(*values.T).statistic
    assert agreement.concordance == pytest.approx(friedman / (3 * 79))


def test_means_over_pairs():
    values = scores()
    agreement = hardness_agreement(values)
    pairs = [(0, 1), (0, 2), (1, 2)]
    means = agreement.means()
    assert means["mean_kendall"] == pytest.approx(np.mean([agreement.kendall[pair] for pair in pairs]))
    assert means["mean_hardest_overlap"] == pytest.approx(np.mean([agreement.overlap[pair] for pair in pairs]))
    # A constant model's pairs are left out; without any pair there is no mean.
    with_constant = hardness_agreement([*values[:2], np.ones(values.shape[1])]).means()
    assert with_constant["mean_spearman"] == pytest.approx(agreement.spearman[0, 1])
    assert np.isnan(hardness_agreement(values[:1]).means()["mean_spearman"])


def test_one_model_and_constant_models():
    agreement = hardness_agreement([[0.1, 0.2, 0.9, 1.0]])
    assert agreement.concordance == 1
    constant = hardness_agreement([[1, 1, 1, 1], [0, 0.5, 0.5, 1]])
    assert np.isnan(constant.spearman[0, 1])
    assert np.isnan(constant.kendall[0, 1])
    with np.errstate(all="raise"):  # ranks that are all alike are not divided by their variance of 0
        assert np.isnan(hardness_agreement(np.ones((2, 4))).concordance)
