"""Against rankings worked out by hand, and against a plain computation with sets on random ones."""

import numpy as np
import pytest

from trivium.measures.recall import average_precision_at_r, r_precision, ranked_hits


def plain(ranking, right):
    """mAP@R and R-Precision as their papers define them, item by item."""
    precisions = [len(set(ranking[:r]) & right) / r for r in range(1, len(right) + 1)]
    hits = [precision if ranking[r] in right else 0 for r, precision in enumerate(precisions)]
    return sum(hits) / len(right), precisions[-1]


def test_by_hand():
    hits = ranked_hits([0.9, 0.8, 0.7, 0.1], [True, False, True, True], 3)
    assert hits.tolist() == [True, False, True]
    assert r_precision(hits) == pytest.approx(2 / 3)
    assert average_precision_at_r(hits) == pytest.approx((1 + 2 / 3) / 3)


def test_a_wrong_item_of_the_same_score_ranks_before():
    assert ranked_hits([0.5, 0.5, 0.5], [True, False, True], 2).tolist() == [False, True]
    many = np.zeros(100)
    many[7] = 1
    right = np.zeros(100, bool)
    right[[7, 50]] = True
    assert ranked_hits(many, right, 2).tolist() == [True, False]


def test_fewer_items_than_are_asked_for_are_all_there_are():
    assert ranked_hits([0.1, 0.9], [True, False], 3).tolist() == [False, True]


@pytest.mark.parametrize("seed", range(20))
def test_random_rankings(seed):
    rng = np.random.default_rng(seed)
    items = int(rng.integers(3, 200))
    right = rng.permutation(items)[: rng.integers(1, min(items, 40) + 1)]
    scores = rng.permutation(items)
    flags = np.zeros(items, bool)
    flags[right] = True
    hits = ranked_hits(scores, flags, len(right))
    expected = plain(np.argsort(-scores).tolist(), set(right.tolist()))
    assert (average_precision_at_r(hits), r_precision(hits)) == pytest.approx(expected, abs=1e-12)
