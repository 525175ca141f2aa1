import numpy as np
import pytest

from trivium.formats.trec import read_run, write_run
from trivium.measures.reorder import best_passages, follow, reorder, untie
from trivium.measures.runs import Run

RUN = Run(("a", "b", "c"), [[7, 3, 5], [2, 9, -1], [-1, -1, -1]], [[3.0, 2.0, 1.0], [1.0, 0.0, np.nan], [np.nan] * 3])


def test_lists_follow_the_new_scores():
    found = reorder(RUN, np.array([[-1.0, 0.5, 0.25], [0.0, 4.0, 99.0], [1.0, 2.0, 3.0]]))
    assert found.documents.tolist() == [[3, 5, 7], [9, 2, -1], [-1, -1, -1]]
    assert found.scores[0].tolist() == [0.5, 0.25, -1.0]
    assert found.scores[1, :2].tolist() == [4.0, 0.0]
    assert (found.queries, found.name) == (RUN.queries, RUN.name)


def test_equal_scores_keep_the_order_also_on_disk(tmp_path):
    found = reorder(RUN, np.array([[0.5, 0.5, 0.5], [1.0, 1.0, np.nan], [np.nan] * 3]))
    assert found.documents.tolist() == RUN.documents.tolist()
    assert np.allclose(found.scores[0], 0.5, rtol=2e-7)
    write_run(tmp_path / "run.trec", found)
    assert read_run(tmp_path / "run.trec").documents.tolist() == RUN.documents[:2].tolist()  # 7, 3, 5: not by number


def test_a_score_after_a_tie_stays_below_it():
    tie = np.nextafter(np.float32(0.5), np.float32(0))  # what the second of two equal scores becomes
    found = reorder(RUN, np.array([[0.5, 0.5, tie], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]))
    assert found.documents[0].tolist() == [7, 3, 5]
    assert (np.diff(found.scores[0]) < 0).all()


def test_the_rest_follows_in_its_order_below_the_head():
    run = Run.from_dict({"q": {1: 5.0, 2: 4.0, 3: 3.0, 4: 2.0}, "r": {7: 1.0, 8: 0.5}, "s": {}})
    head = reorder(run.first(2), np.array([[0.25, 0.75], [0.5, 0.5], [np.nan, np.nan]]))
    whole = follow(head, run)
    assert whole.documents.tolist() == [[2, 1, 3, 4], [7, 8, -1, -1], [-1, -1, -1, -1]]
    assert whole.scores[0, :2].tolist() == [0.75, 0.25]
    assert 0.25 > whole.scores[0, 2] > whole.scores[0, 3] > 0.25 - 1e-7
    assert follow(run, run).documents.tolist() == run.documents.tolist()


def below(value, steps=1):
    value = np.float32(value)
    for _ in range(steps):
        value = np.nextafter(value, np.float32(-np.inf))
    return float(value)


def test_scores_of_32_bits_that_differ_stay():
    scores = np.array([[3.5, 0.25, 0.0, -1.0, np.nan], [below(1.0), below(1.0, 2), below(1.0, 3), -2.5, -7.0]])
    np.testing.assert_array_equal(untie(scores), scores)


def test_equal_ones_step_down_and_push_those_that_they_reach():
    scores = np.array([[1.0, 1.0, 1.0, below(1.0), 0.5]])
    assert untie(scores).tolist() == [[1.0, below(1.0), below(1.0, 2), below(1.0, 3), 0.5]]


def test_what_differs_in_64_bits_only_is_told_apart():
    scores = np.array([[0.9277144074440002, 0.9277143974440002, np.nextafter(0.9277143974440002, 0)]])
    found = untie(scores)
    assert (np.diff(found.astype(np.float32)) < 0).all()
    assert np.abs(found - scores).max() < 3 * 2**-24


def test_zeros_of_both_signs_are_one_number():
    found = untie(np.array([[0.0, -0.0, 0.0], [1e-45, 0.0, -0.0]])).astype(np.float32)
    assert (np.diff(found) < 0).all()
    assert found[0].tolist() == [0.0, below(0.0), below(0.0, 2)]


@pytest.mark.parametrize("scale", [1e-40, 1.0, 1e30])
def test_any_list_keeps_its_order(scale):
    scores = -np.sort(-scale * np.random.default_rng(0).normal(size=(50, 200)).round(2), axis=1)
    found = untie(scores)
    assert (np.diff(found.astype(np.float32), axis=1) < 0).all()
    assert (found <= scores.astype(np.float32)).all()


@pytest.mark.parametrize("scores", [[1e39], [-3.4028234663852886e38, -3.4028234663852886e38], [np.inf, 0.0]])
def test_what_32_bits_cannot_hold_is_refused(scores):
    with pytest.raises(ValueError, match="not finite as a 32-bit float"):
        untie(np.array([scores]))


def test_an_article_stands_where_its_first_passage_stood():
    article_of = np.array([0, 0, 1, 1, 2])
    run = Run.from_dict({"q": {3: 0.9, 1: 0.8, 2: 0.7, 0: 0.6, 4: 0.5}, "empty": {}}, depth=5, name="toy")
    articles = best_passages(run, article_of)
    np.testing.assert_array_equal(articles.documents, [[1, 0, 2, -1, -1], [-1] * 5])
    np.testing.assert_array_equal(articles.scores[0, :3], [0.9, 0.8, 0.5])


@pytest.mark.parametrize("passage", [2, 5])
def test_unknown_passage(passage):
    with pytest.raises(ValueError, match=f"passage {passage}, but there are 2"):
        best_passages(Run.from_dict({"q": {passage: 1.0}}, depth=1), np.array([0, 1]))
