"""δ, its floor and its clustered bootstrap, frames as units, the even cut: by hand and by an independent way."""

import numpy as np
import pytest
import scipy.stats
from scipy.stats.contingency import chi2_contingency, crosstab

from trivium.measures.agreement import cramers_v
from trivium.measures.bootstrap import cluster_bootstrap
from trivium.measures.effects import below_zero, even_cut, frame_level, mann_whitney, mean_differences, signed_rank

OPTIONS = {"resamples": 300, "confidence": 0.95, "seed": 0}


def world(seed=0, models=3, factors=4, n=120, texts=25):
    rng = np.random.default_rng(seed)
    return (
        rng.choice([0, 0.2, 0.5, 1, 1], (models, n)) * 1.0,
        rng.choice([-1, 0, 0, 1], (factors, n)),
        np.sort(rng.integers(texts, size=n)),
    )


def test_delta_by_hand():
    # Yes: .2 and .4; no: .9 and .5; the last is in neither set.
    delta = mean_differences([[0.2, 0.9, 0.4, 0.5, 0.0]], [[1, 0, 1, 0, -1], [1, 1, 1, 1, -1], [0, 0, 0, 0, 0]])
    assert delta[0, 0] == pytest.approx(100 * (0.6 / 2 - 1.4 / 2))
    assert np.isnan(delta[0, 1:]).all()  # all say yes, all say no


def test_below_zero_is_below_it_by_more_than_rounding():
    delta = [-1.0, -0.001, -2e-9, -5e-10, 100 * (0.2 - (0.3 - 0.1)), 0.0, 0.5, np.nan]
    assert below_zero(delta).tolist() == [True, True, True, False, False, False, False, False]


@pytest.mark.parametrize(
    ("scores", "factors", "message"),
    [
        ([[0.1, np.nan]], [[1, 0]], "finite"),
        ([[0.1, 0.2]], [[1, 2]], "coded 1"),
        ([[0.1, 0.2]], [[1, 0, 0]], "same examples"),
        ([0.1, 0.2], [[1, 0]], "matrices"),
    ],
)
def test_delta_refuses(scores, factors, message):
    with pytest.raises(ValueError, match=message):
        mean_differences(scores, factors)
    with pytest.raises(ValueError, match=message):
        cluster_bootstrap(scores, factors, [0, 1], **OPTIONS)


def test_bootstrap_is_that_of_a_plain_loop():
    scores, factors, texts = world()
    low, high = cluster_bootstrap(scores, factors, texts, **OPTIONS)
    names = np.unique(texts)
    draws = np.random.default_rng(0).integers(len(names), size=(300, len(names)))
    deltas = []
    for draw in draws:
        rows = np.concatenate([np.flatnonzero(texts == names[number]) for number in draw])
        deltas.append(mean_differences(scores[:, rows], factors[:, rows]))
    expected = np.nanquantile(deltas, [0.025, 0.975], axis=0)
    assert low == pytest.approx(expected[0], abs=1e-9)
    assert high == pytest.approx(expected[1], abs=1e-9)


def test_bootstrap_agrees_with_scipy_when_every_example_is_its_own_text():
    scores, factors, _ = world(n=200, models=1, factors=1)
    factors = np.where(factors < 0, 0, factors)
    low, high = cluster_bootstrap(scores, factors, np.arange(200), confidence=0.9, resamples=20_000, seed=1)

    def delta(values, side, axis):
        yes = side == 1
        return 100 * ((values * yes).sum(axis) / yes.sum(axis) - (values * ~yes).sum(axis) / (~yes).sum(axis))

    theirs = scipy.stats.bootstrap(
        (scores[0], factors[0]),
        delta,
        paired=True,
        vectorized=True,
        n_resamples=20_000,
        confidence_level=0.9,
        method="percentile",
        rng=np.random.default_rng(2),
    ).confidence_interval
    assert low[0, 0] == pytest.approx(theirs.low, abs=0.35)  # widths are about 20 points
    assert high[0, 0] == pytest.approx(theirs.high, abs=0.35)


def test_bootstrap_does_not_depend_on_names_or_on_other_models():
    scores, factors, texts = world(seed=3)
    low, high = cluster_bootstrap(scores, factors, texts, **OPTIONS)
    named = np.array([f"text {number:03d}" for number in texts])
    assert cluster_bootstrap(scores, factors, named, **OPTIONS)[0].tolist() == low.tolist()
    alone = cluster_bootstrap(scores[1:2], factors[2:], texts, **OPTIONS)[1]
    assert alone == pytest.approx(high[1:2, 2:], abs=1e-12)


def test_trainings_are_drawn_beside_texts_as_in_a_plain_loop():
    scores, factors, texts = world(models=5)
    of_model = np.array([0, 0, 0, 1, 1])
    low, high = cluster_bootstrap(scores, factors, texts, of_model=of_model, **OPTIONS)
    names = np.unique(texts)
    draws = np.random.default_rng(0).integers(len(names), size=(300, len(names)))
    trainings = np.random.default_rng([0, 1])
    first, second = trainings.integers(3, size=(300, 2)), 3 + trainings.integers(2, size=(300, 1))
    deltas = []
    for draw, *taken in zip(draws, first, second, strict=True):
        rows = np.concatenate([np.flatnonzero(texts == names[number]) for number in draw])
        means = np.stack([scores[of].mean(axis=0) for of in taken])
        deltas.append(mean_differences(means[:, rows], factors[:, rows]))
    expected = np.nanquantile(deltas, [0.025, 0.975], axis=0)
    assert low.shape == (2, 4)
    assert low == pytest.approx(expected[0], abs=1e-9)
    assert high == pytest.approx(expected[1], abs=1e-9)


def test_trainings_by_hand_where_texts_are_alike():
    # Every text says the same: δ is -20, -20 and -60 of three trainings, of which a resample draws two: twice the same
    # -20 or both, 4/9; one of them and -60, 4/9; twice -60, 1/9. So the lower bound at 60 % is -40, at 90 % it is -60.
    factors, texts = [[1, 0] * 30], np.repeat(np.arange(30), 2)
    scores = np.array([[0.3, 0.5] * 30, [0.3, 0.5] * 30, [0.1, 0.7] * 30])
    options = {"resamples": 4000, "seed": 0}
    low, high = cluster_bootstrap(scores, factors, texts, of_model=[0, 0, 0], confidence=0.6, **options)
    assert (low[0, 0], high[0, 0]) == (pytest.approx(-40), pytest.approx(-20))
    low, high = cluster_bootstrap(scores, factors, texts, of_model=[0, 0, 0], confidence=0.9, **options)
    assert (low[0, 0], high[0, 0]) == (pytest.approx(-60), pytest.approx(-20))


def test_one_training_a_model_has_the_interval_of_the_texts():
    scores, factors, texts = world()
    for ours, plain in zip(
        cluster_bootstrap(scores, factors, texts, of_model=[0, 1, 2], **OPTIONS),
        cluster_bootstrap(scores, factors, texts, **OPTIONS),
        strict=True,
    ):
        assert ours.tolist() == plain.tolist()
    # Neither do another model's trainings change it; a model's order is its number's.
    several = cluster_bootstrap(scores[[2, 0, 1, 1]], factors, texts, of_model=[1, 0, 2, 2], **OPTIONS)[0]
    alone = cluster_bootstrap(scores, factors, texts, **OPTIONS)[0]
    assert several == pytest.approx(alone[[0, 2, 1]], abs=1e-12)


def test_texts_that_differ_widen_the_interval():
    rng = np.random.default_rng(5)
    texts = np.repeat(np.arange(40), 10)
    factors = np.repeat(rng.integers(2, size=40), 10)[None]
    scores = np.clip(0.5 + np.repeat(rng.normal(0, 0.3, 40), 10) + rng.normal(0, 0.05, 400), 0, 1)[None]
    clustered, alone = (
        np.subtract(*cluster_bootstrap(scores, factors, labels, **OPTIONS)[::-1])[0, 0]
        for labels in (texts, np.arange(400))
    )
    assert clustered > 2 * alone


def test_bootstrap_of_one_text_or_one_side_has_no_interval():
    scores, factors, texts = world()
    for low, high in (
        cluster_bootstrap(scores, factors, np.zeros(120), **OPTIONS),
        cluster_bootstrap(scores, np.ones((4, 120), int), texts, **OPTIONS),
    ):
        assert np.isnan(low).all()
        assert np.isnan(high).all()


def test_frames_of_a_constant_factor_are_compared_between():
    scores = np.array([[0, 1, 1, 1, 0.2, 0.4, 0.9, 0.9], [1, 1, 0, 0, 1, 1, 0, 0]], float)
    frames = np.repeat(list("abcd"), 2)
    level = frame_level(scores, [1, 1, 0, 0, 1, 1, 0, 0], frames)
    assert (level.kind, level.frames) == ("between", 4)
    for row, p in zip(scores, level.p, strict=True):
        means = row.reshape(4, 2).mean(axis=1)
        theirs = scipy.stats.mannwhitneyu(means[[0, 2]], means[[1, 3]], method="asymptotic")
        assert p == pytest.approx(theirs.pvalue)


def test_frames_with_both_sides_are_compared_within():
    rng = np.random.default_rng(0)
    scores, frames, factor = rng.random((2, 200)), np.arange(200) % 10, rng.integers(2, size=200)
    level = frame_level(scores, factor, frames)
    assert (level.kind, level.frames) == ("within", 10)
    differences = [
        scores[:, (frames == f) & (factor == 1)].mean(axis=1) - scores[:, (frames == f) & (factor == 0)].mean(axis=1)
        for f in range(10)
    ]
    for row, p in zip(np.transpose(differences), level.p, strict=True):
        assert p == pytest.approx(scipy.stats.wilcoxon(row, method="exact").pvalue)


def test_half_of_the_examples_in_frames_with_both_sides_is_enough():
    # Frame a: 0.9 less 0.1; frame b: 0.7 less the mean of 0.2 and 0.4; the other five of ten say no in frames of their
    # own. Of two differences of one sign p is 2 / 2².
    frames, factor = list("aabbbcdefg"), [1, 0, 1, 0, 0, 0, 0, 0, 0, 0]
    scores = [[0.9, 0.1, 0.7, 0.2, 0.4, 0, 0, 0, 0, 0]]
    level = frame_level(scores, factor, frames)
    assert (level.kind, level.frames, level.p.tolist()) == ("within", 2, [0.5])
    assert frame_level([[*scores[0], 0]], [*factor, 0], [*frames, "h"]).kind == "between"  # five of eleven


def test_a_frame_takes_the_side_of_most_of_its_examples():
    # Frame a: two yes, one no; frame b: no; frame c: a tie, left out. 5 of 11 examples are in frames with both sides,
    # fewer than half, so frames are compared between.
    frames = np.array(list("aaa") + list("cc") + list("bbbbbb"))
    factor = np.array([1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0])
    level = frame_level(np.random.default_rng(0).random((1, 11)), factor, frames)
    assert (level.kind, level.frames) == ("between", 2)


def test_even_cut_by_hand():
    assert even_cut([1, 1, 2, 3, 3, 3, 9]) == 2  # 3 against 4
    assert even_cut([1, 2, 3]) == 1  # 1 | 2 as good as 2 | 1: the lower
    assert even_cut([5, 5, 5, 7]) == 5  # the only cut
    assert even_cut([4, 4, 4]) is None
    assert even_cut([0, 10, 90, 100], [0, 10, 90, 100]) == 90
    assert even_cut([3, 1, 2, 9, 3, 1, 3]) == even_cut(sorted([3, 1, 2, 9, 3, 1, 3]))


def test_cramers_v_without_its_bias():
    # By hand: 60 examples, 2 x 2 table (20, 10 / 10, 20): phi squared 1/9, less 1/59, over 2 - 1/59 - 1.
    first, second = [0] * 30 + [1] * 30, [0] * 20 + [1] * 10 + [0] * 10 + [1] * 20
    assert cramers_v(first, second, corrected=True) == pytest.approx(np.sqrt((1 / 9 - 1 / 59) / (1 - 1 / 59)))
    assert cramers_v("aabb" * 20, [0, 0, 1, 1] * 20, corrected=True) == pytest.approx(1)
    # Counts [[20, 5, 5], [5, 20, 15]]: r' is 2 - 1/69, c' 3 - 4/69, and the smaller one counts.
    table = [[20, 5, 5], [5, 20, 15]]
    first = [row for row in range(2) for column in range(3) for _ in range(table[row][column])]
    second = [column for row in range(2) for column in range(3) for _ in range(table[row][column])]
    phi = chi2_contingency(table, correction=False).statistic / 70
    expected = np.sqrt((phi - 2 / 69) / (min(2 - 1 / 69, 3 - 4 / 69) - 1))
    assert cramers_v(first, second, corrected=True) == pytest.approx(expected)
    assert cramers_v(second, first, corrected=True) == pytest.approx(expected)
    # Counts 3 × 3 of few examples, where both bounds are alike and the bias is large.
    small = [0, 0, 0, 1, 1, 1, 2, 2, 2, 2]
    other = [0, 0, 1, 1, 1, 2, 2, 2, 0, 2]
    phi = chi2_contingency(crosstab(small, other).count, correction=False).statistic / 10
    assert cramers_v(small, other, corrected=True) == pytest.approx(np.sqrt(max(0, phi - 4 / 9) / (3 - 4 / 9 - 1)))
    # Of three kinds and four, the three set the bound: 3 - 4 / 23 of 24 examples that determine one another.
    three, four = [0] * 6 + [1] * 6 + [2] * 12, [0] * 6 + [1] * 6 + [2] * 6 + [3] * 6
    expected = np.sqrt((2 - 6 / 23) / (3 - 4 / 23 - 1))
    assert cramers_v(three, four, corrected=True) == pytest.approx(expected)
    assert cramers_v(four, three, corrected=True) == pytest.approx(expected)
    rng = np.random.default_rng(0)
    pairs = [(rng.integers(40, size=800), rng.integers(2, size=800)) for _ in range(30)]
    assert np.mean([cramers_v(*pair) for pair in pairs]) > 0.2  # of two that have nothing to do with each other
    assert np.mean([cramers_v(*pair, corrected=True) for pair in pairs]) < 0.05
    assert cramers_v("aaa", "abc", corrected=True) is None
    assert cramers_v("ab", "ab", corrected=True) is None
    assert cramers_v("a", "b", corrected=True) is None


def test_cramers_v_by_hand_and_by_scipy():
    assert cramers_v("aabb", [0, 0, 1, 1]) == 1
    assert cramers_v("aabb", [0, 1, 0, 1]) == 0
    assert cramers_v("aaaa", [0, 1, 0, 1]) is None
    rng = np.random.default_rng(0)
    a, b = rng.integers(4, size=300), rng.integers(3, size=300)
    table = np.array([[((a == i) & (b == j)).sum() for j in range(3)] for i in range(4)])
    assert cramers_v(a.tolist(), b.tolist()) == pytest.approx(scipy.stats.contingency.association(table))


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
