from collections import Counter
from itertools import islice

import numpy as np

from trivium.kvqae.retrieval.training_pairs import Pairs, draw_batches


def pairs_of(positives, negatives):
    return Pairs(
        [f"q{row}" for row in range(len(positives))],
        [np.array(ids) for ids in positives],
        [np.array(ids) for ids in negatives],
    )


def test_everything_is_drawn_from_its_own_lists():
    pairs = pairs_of([[1, 2], [3], [4, 5, 6]], [[11, 12], [13], [14, 15]])
    drawn = Counter(triple for batch in islice(draw_batches(pairs, 3, seed=0), 600) for triple in batch)
    expected = {
        (question, positive, negative)
        for question in range(3)
        for positive in pairs.positives[question]
        for negative in pairs.negatives[question]
    }
    assert set(drawn) == expected
    # Uniform: question 0 has 4 combinations in 600 batches, 150 ± 5 standard deviations (√(600·¼·¾) = 10.6).
    assert all(abs(drawn[triple] - 150) < 53 for triple in expected if triple[0] == 0)


def test_every_question_once_a_round():
    pairs = pairs_of([[row] for row in range(7)], [[100 + row] for row in range(7)])
    order = [question for batch in islice(draw_batches(pairs, 3, seed=1), 14) for question, _, _ in batch]
    assert len(order) == 42
    rounds = [order[start : start + 7] for start in range(0, 42, 7)]
    assert all(sorted(one) == list(range(7)) for one in rounds)
    assert len(set(map(tuple, rounds))) > 1


def test_no_passage_is_negative_for_one_question_and_positive_for_another_in_the_batch():
    random = np.random.default_rng(0)
    positives = [random.choice(30, size=3, replace=False) for _ in range(60)]
    negatives = [np.setdiff1d(np.arange(30), ids) for ids in positives]
    pairs = pairs_of(positives, negatives)
    seen = set()
    for batch in islice(draw_batches(pairs, 5, seed=0), 300):
        for first in batch:
            others = {passage for triple in batch if triple != first for passage in triple[1:]}
            assert not others & set(pairs.positives[first[0]].tolist())
        seen |= {question for question, _, _ in batch}
    assert seen == set(range(60))


def test_batches_depend_on_the_seed_only():
    pairs = pairs_of([[row] for row in range(20)], [[100 + row, 200 + row] for row in range(20)])
    first, again, other = (list(islice(draw_batches(pairs, 4, seed=seed), 9)) for seed in (5, 5, 6))
    assert first == again != other
