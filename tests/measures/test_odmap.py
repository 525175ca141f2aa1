"""ODmAP@k: by hand, against a plain loop over sentences, and its average precision against ranx."""

import numpy as np
import pytest
import ranx
from scipy.stats import skew

from trivium.measures import odmap as module
from trivium.measures.odmap import names_any, occurrence_skew, odmap, ranks_of_embeddings, recall

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


def ranks_of_scores(scores, query_owners, gallery_owners):
    """The definition on a matrix of all scores: 1 + items of other owners that score at least as the best own one."""
    own = np.asarray(query_owners)[:, None] == np.asarray(gallery_owners)
    best = np.where(own, scores, -np.inf).max(axis=1, keepdims=True)
    return 1 + ((np.asarray(scores) >= best) & ~own).sum(axis=1)


def test_ranks_by_hand():
    scores = [[0.9, 0.8, 0.1], [0.3, 0.8, 0.1], [0.5, 0.5, 0.4]]
    ranks = ranks_of_scores(scores, [0, 0, 2], [0, 0, 2])
    assert ranks.tolist() == [1, 1, 3]
    assert recall(ranks, 1).tolist() == [1, 1, 0]
    assert recall(ranks, 3).tolist() == [1, 1, 1]


def test_a_query_ranks_behind_others_that_score_the_same():
    assert ranks_of_scores([[1.0, 1.0, 1.0]], [0], [0, 1, 2]).tolist() == [3]
    assert ranks_of_scores([[1.0, 1.0, 0.5]], [0], [0, 0, 1]).tolist() == [1]  # its own are no rivals


def test_any_of_the_five_captions_is_a_hit():
    owners = np.repeat([10, 20], 5)
    scores = np.zeros((1, 10))
    scores[0, 3], scores[0, 7] = 0.9, 0.8
    assert ranks_of_scores(scores, [10], owners).tolist() == [1]
    assert ranks_of_scores(scores, [20], owners).tolist() == [2]


def random_captions(pictures=60, width=8, seed=0):
    """Vectors on a coarse grid, so that there are ties; pictures with four to six captions, in any order."""
    rng = np.random.default_rng(seed)
    owners = rng.permutation(np.repeat(np.arange(pictures), rng.integers(4, 7, pictures)))
    images = rng.integers(-2, 3, (pictures, width)) / 4
    captions = (images[owners] + rng.integers(-2, 3, (len(owners), width)) / 4).astype(np.float16)
    return images.astype(np.float32), captions, np.arange(pictures), owners


@pytest.mark.parametrize("size", [1, 1000, 1 << 24])
def test_parts_of_the_matrix_give_the_ranks_of_the_whole_both_ways(monkeypatch, size):
    monkeypatch.setattr(module, "_SCORES", size)
    images, captions, pictures, owners = random_captions()
    scores = images.astype(np.float64) @ captions.astype(np.float64).T  # exact: small multiples of 1/16
    for queries, gallery, of_query, of_gallery, matrix in (
        (images, captions, pictures, owners, scores),
        (captions, images, owners, pictures, scores.T),
    ):
        expected = ranks_of_scores(matrix, of_query, of_gallery)
        assert len(set(expected.tolist())) > 5
        assert ranks_of_embeddings(queries, gallery, of_query, of_gallery).tolist() == expected.tolist()


def test_equal_vectors_tie():
    rng = np.random.default_rng(3)
    vector = rng.standard_normal(512).astype(np.float32)
    gallery = np.tile(vector / np.linalg.norm(vector), (100, 1))
    query = rng.standard_normal((1, 512)).astype(np.float32)
    for items in (7, 64, 100):
        assert ranks_of_embeddings(query, gallery[:items], [5], np.arange(items)).tolist() == [items]


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="query 1 has no item"):
        ranks_of_embeddings(np.ones((2, 2)), np.ones((3, 2)), [0, 9], [0, 1, 2])
    with pytest.raises(ValueError, match="NaN or infinite"):
        ranks_of_embeddings(np.full((1, 2), np.nan), np.ones((1, 2)), [0], [0])


def test_vectors_of_zeros_tie_with_everything():
    gallery = np.arange(8.0).reshape(4, 2)
    assert ranks_of_embeddings(np.zeros((1, 2)), gallery, [0], [0, 0, 1, 2]).tolist() == [3]


def test_order_of_the_gallery_changes_nothing():
    images, captions, pictures, owners = random_captions(seed=4)
    order = np.random.default_rng(5).permutation(len(captions))
    first = ranks_of_embeddings(images, captions, pictures, owners)
    assert ranks_of_embeddings(images, captions[order], pictures, owners[order]).tolist() == first.tolist()


def test_it_is_ranxs_hit_rate_where_nothing_ties():
    rng = np.random.default_rng(6)
    owners = np.repeat(np.arange(30), 5)
    scores = rng.random((30, 150)) + 0.3 * (np.arange(30)[:, None] == owners)
    ranks = ranks_of_scores(scores, np.arange(30), owners)
    qrels = {f"q{q:02d}": {f"d{d}": 1 for d in np.flatnonzero(owners == q)} for q in range(30)}
    run = {f"q{q:02d}": {f"d{d}": float(score) for d, score in enumerate(row)} for q, row in enumerate(scores)}
    for k in (1, 5, 10):
        theirs = ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), f"hit_rate@{k}", return_mean=False)
        assert recall(ranks, k).tolist() == theirs.tolist()


def test_occurrences_by_hand():
    neighbours = [[0, 1], [0, 2], [0, 1]]
    assert occurrence_skew(neighbours, 4) == 0  # even around the mean of 1.5
    # Counts 3, 0, 0: mean 1, variance 2, third moment (8 - 1 - 1) / 3 = 2.
    assert occurrence_skew([[0], [0], [0]], 3) == pytest.approx(2 / 2**1.5)


def test_it_is_scipys_skewness_of_the_counts():
    rng = np.random.default_rng(0)
    for size in (5, 100, 5000):
        neighbours = (size * rng.random((200, 10)) ** 3).astype(np.int64)
        counts = np.bincount(neighbours.ravel(), minlength=size)
        assert occurrence_skew(neighbours, size) == pytest.approx(skew(counts))
        assert occurrence_skew(rng.permutation(neighbours.ravel()), size) == pytest.approx(skew(counts))


def test_a_hub_makes_it_larger():
    rng = np.random.default_rng(1)
    even = rng.integers(0, 50, (100, 10))
    hub = even.copy()
    hub[:, 0] = 7
    assert occurrence_skew(hub, 50) > occurrence_skew(even, 50) + 1
