"""The expectation of ODmAP under a random order: all orders of a small gallery, one by one."""

from itertools import permutations

import numpy as np
import pytest

from trivium.decorrelation.evaluation.answers import Gallery, Queries, chance, correct_sentences, expected_precision
from trivium.measures.odmap import odmap


@pytest.mark.parametrize("k", [1, 2, 5])
def test_expectation_is_the_mean_over_all_orders(k):
    for correct in range(6):
        rel = np.array([each < correct for each in range(5)])
        orders = np.array([rel[list(order)] for order in permutations(range(5))])
        precision = np.cumsum(orders, axis=1) / np.arange(1, 6)
        exact = (precision * orders)[:, :k].sum(axis=1).mean() / k
        assert expected_precision(np.array([correct]), 5, k) == pytest.approx([exact])


def test_agrees_with_the_mean_score_of_random_orders():
    rng = np.random.default_rng(0)
    names = rng.random((40, 6)) < 0.3
    removed = np.eye(6, dtype=bool)[rng.integers(6, size=7)]
    present = (rng.random((7, 6)) < 0.4) & ~removed
    gallery = Gallery(np.arange(40), np.arange(40), names)
    queries = Queries(tuple("abcdefg"), np.arange(7), ("",) * 7, removed, present, np.zeros(7, dtype=bool))
    correct = (names @ present.T & ~(names @ removed.T)).sum(axis=0)
    assert correct_sentences(gallery, queries).tolist() == correct.tolist()
    drawn = [
        odmap(np.stack([rng.permutation(40) for _ in range(7)]), names, removed, present, (5,)) for _ in range(4000)
    ]
    found = np.mean([each[5] for each in drawn], axis=0)
    assert chance(gallery, queries, (5,))[5] == pytest.approx(found, abs=0.015)
