"""ODmAP@k: by hand, against a plain loop over sentences, and its average precision against ranx."""

import numpy as np
import pytest
import ranx

from trivium.measures.odmap import names_any, odmap

CLASSES = ["cat", "dog", "frisbee", "person"]
CAPTIONS = [{"dog", "frisbee"}, {"dog"}, {"person", "dog"}, {"cat"}, set(), {"frisbee"}]


def flags(sets):
    return np.array([[name in each for name in CLASSES] for each in sets], dtype=bool)


def plain_loop(ranked, named, removed, remaining, k):
    """Sentence by sentence, as the definition is worded."""
    total = 0.0
    right = 0
    for rank, caption in enumerate(ranked[:k], 1):
        tells_removed = any(each in removed for each in named[caption])
        tells_remaining = any(each in remaining for each in named[caption])
        if tells_remaining and not tells_removed:
            right += 1
            total += right / rank
    return total / k


def test_a_sentence_is_right_when_it_names_what_is_there_and_not_what_went():
    ranked = np.arange(6)[:, None]
    sides = flags([{"frisbee"}] * 6), flags([{"dog", "person"}] * 6)
    assert odmap(ranked, flags(CAPTIONS), *sides, [1])[1].tolist() == [0, 1, 1, 0, 0, 0]
    with pytest.raises(ValueError, match="from 1 to the 1 sentences retrieved, got 2"):
        odmap(ranked, flags(CAPTIONS), *sides, [2])


def test_by_hand():
    # The frisbee went, dog and person are there: wrong, right, right, wrong.
    found = odmap(
        np.array([[0, 1, 2, 3], [1, 0, 3, 2]]), flags(CAPTIONS), flags([{"frisbee"}] * 2),
        flags([{"dog", "person"}] * 2), (1, 2, 4),
    )  # fmt: skip
    assert found[1].tolist() == [0, 1]
    assert found[2].tolist() == [(1 / 2) / 2, 1 / 2]
    assert found[4] == pytest.approx([(1 / 2 + 2 / 3) / 4, (1 + 2 / 4) / 4])


def test_nothing_that_was_removed_is_named_where_nothing_was():
    ranked = np.array([[0, 1], [1, 0], [4, 0]])
    named = names_any(ranked, flags(CAPTIONS), flags([{"frisbee"}] * 3))
    assert named.tolist() == [[True, False], [False, True], [False, True]]
    # An empty box: nothing removed is named, and naming what is there is right.
    nothing = flags([set()] * 3)
    assert not names_any(ranked, flags(CAPTIONS), nothing).any()
    assert odmap(ranked, flags(CAPTIONS), nothing, flags([{"dog"}] * 3), [1])[1].tolist() == [1, 1, 0]


def random_world(seed, queries=40, captions=60, depth=10):
    rng = np.random.default_rng(seed)
    named = rng.random((captions, len(CLASSES))) < 0.35
    side = rng.integers(0, 3, (queries, len(CLASSES)))
    ranked = np.stack([rng.permutation(captions)[:depth] for _ in range(queries)])
    return ranked, named, side == 0, side == 1


def test_it_is_what_a_loop_over_the_sentences_gives():
    for seed in range(5):
        ranked, named, removed, remaining = random_world(seed)
        found = odmap(ranked, named, removed, remaining, (1, 5, 10))
        sets = [set(np.flatnonzero(row).tolist()) for row in named]
        for k, values in found.items():
            expected = [
                plain_loop(row, sets, set(np.flatnonzero(gone)), set(np.flatnonzero(there)), k)
                for row, gone, there in zip(ranked.tolist(), removed, remaining, strict=True)
            ]
            assert values == pytest.approx(expected)
            assert 0 < values.mean() < 1


def test_order_of_queries_and_of_captions_changes_nothing():
    ranked, named, removed, remaining = random_world(7)
    values = odmap(ranked, named, removed, remaining, [5])[5]
    rows, places = np.random.default_rng(0).permutation(len(ranked)), np.random.default_rng(1).permutation(len(named))
    renumbered = np.argsort(places)[ranked]
    again = odmap(renumbered[rows], named[places], removed[rows], remaining[rows], [5])[5]
    assert again.tolist() == values[rows].tolist()


def test_average_precision_is_ranxs_where_k_documents_are_relevant():
    correct = np.random.default_rng(0).random((30, 10)) < 0.5
    for k in (1, 5, 10):
        # With k relevant documents in all, those not retrieved among the first k named apart, AP@k divides by k.
        qrels, run = {}, {}
        for query, row in enumerate(correct[:, :k]):
            name = f"q{query:02d}"  # ranx sorts by name
            right = [f"d{rank}" for rank in range(k) if row[rank]]
            qrels[name] = dict.fromkeys([*right, *(f"x{n}" for n in range(k - len(right)))], 1)
            run[name] = {f"d{rank}": float(-rank) for rank in range(k)}
        theirs = ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), "map", return_mean=False)
        ranked = np.where(correct, 0, 1)  # two captions, the first of which names the class that remains
        none, there = np.zeros((30, 1), bool), np.ones((30, 1), bool)
        assert odmap(ranked, np.array([[True], [False]]), none, there, [k])[k] == pytest.approx(theirs)
