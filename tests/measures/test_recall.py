"""Against rankings worked out by hand, plain computations with sets on random ones, and SciPy's skewness."""

import numpy as np
import pytest
import ranx
from scipy.stats import skew

from trivium.measures import odmap as module
from trivium.measures.odmap import occurrence_skew, ranks_of_embeddings, recall


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


def random_world(pictures=60, width=8, seed=0):
    """Vectors on a coarse grid, so that there are ties; pictures with four to six captions, in any order."""
    rng = np.random.default_rng(seed)
    owners = rng.permutation(np.repeat(np.arange(pictures), rng.integers(4, 7, pictures)))
    images = rng.integers(-2, 3, (pictures, width)) / 4
    captions = (images[owners] + rng.integers(-2, 3, (len(owners), width)) / 4).astype(np.float16)
    return images.astype(np.float32), captions, np.arange(pictures), owners


@pytest.mark.parametrize("size", [1, 1000, 1 << 24])
def test_parts_of_the_matrix_give_the_ranks_of_the_whole_both_ways(monkeypatch, size):
    monkeypatch.setattr(module, "_SCORES", size)
    images, captions, pictures, owners = random_world()
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
    images, captions, pictures, owners = random_world(seed=4)
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
