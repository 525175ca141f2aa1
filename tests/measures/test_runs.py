"""Runs and qrels: order, ties, padding, alignment, and what is refused."""

import numpy as np
import pytest

from trivium.core.errors import BadInput
from trivium.measures.runs import Qrels, Run, relevance_matrix

NAN = float("nan")


def qrels(**relevant):
    return Qrels(tuple(relevant), tuple(relevant.values()))


def test_from_dict_ranks_by_score_then_lower_id_and_pads():
    run = Run.from_dict({"a": {7: 1.0, 3: 1.0, 9: 2.0}, "b": {5: 0.5}, "c": {}}, depth=2, name="s")
    assert run.documents.tolist() == [[9, 3], [5, -1], [-1, -1]]
    np.testing.assert_array_equal(run.scores, [[2.0, 1.0], [0.5, NAN], [NAN, NAN]])
    assert run.name == "s"


def test_from_scores_takes_padding_anywhere_and_keeps_negative_scores():
    run = Run.from_scores(["a"], [[4, -1, 2, 8]], [[-3.0, 99.0, -1.0, -2.0]])
    assert run.documents.tolist() == [[2, 8, 4, -1]]


def test_ties_do_not_depend_on_the_order_given():
    rng = np.random.default_rng(0)
    documents, scores = np.arange(50), rng.integers(0, 4, 50).astype(float)
    expected = sorted(documents, key=lambda d: (-scores[d], d))
    for _ in range(5):
        order = rng.permutation(50)
        assert Run.from_scores(["a"], [documents[order]], [scores[order]]).documents[0].tolist() == expected


@pytest.mark.parametrize(
    ("queries", "documents", "scores", "message"),
    [
        (("a", "a"), [[1], [2]], [[1.0], [1.0]], "'a' appears twice"),
        (("a",), [[1, 1]], [[2.0, 1.0]], "'a' has a document twice"),
        (("a", "b"), [[1, 2], [1, 2]], [[2.0, 1.0], [1.0, 2.0]], "'b' has scores that increase"),
        (("a",), [[-1, 2]], [[NAN, 1.0]], "document after padding"),
        (("a",), [[1, 2]], [[1.0, NAN]], "not finite"),
        (("a",), [[1, 2]], [[np.inf, 1.0]], "not finite"),
        (("a",), [[1, -1]], [[1.0, 0.0]], "score where padded"),
        (("a",), [[-2]], [[1.0]], "negative document id"),
        (("a",), [[1, 2]], [[1.0]], "should both be"),
    ],
)
def test_a_run_that_breaks_its_conditions_is_refused(queries, documents, scores, message):
    with pytest.raises(ValueError, match=message):
        Run(queries, np.array(documents), np.array(scores), "s")


def test_nan_scores_are_not_ranked():
    with pytest.raises(BadInput, match="not finite"):
        Run.from_scores(["a"], [[1, 2]], [[1.0, NAN]])


def test_select_reorders_and_names_what_is_missing():
    run = Run.from_dict({"a": {1: 1.0}, "b": {2: 1.0}})
    assert run.select(["b", "a"]).documents.tolist() == [[2], [1]]
    with pytest.raises(ValueError, match="'z'"):
        run.select(["a", "z"])


def test_complete_adds_empty_lists_and_refuses_foreign_queries():
    run = Run.from_dict({"b": {2: 1.0}}).complete(["a", "b"])
    assert run.queries == ("a", "b")
    assert run.documents.tolist() == [[-1], [2]]
    with pytest.raises(ValueError, match="'b'"):
        run.complete(["a"])


def test_relevance_matrix_aligns_queries_and_never_marks_padding():
    run = Run.from_dict({"a": {1: 2.0, 2: 1.0}, "b": {1: 1.0}})
    marked = relevance_matrix(run, qrels(b=[], a=[2, 7]))
    assert marked.tolist() == [[False, True], [False, False]]


def test_relevance_matrix_names_the_difference():
    run = Run.from_dict({"a": {1: 1.0}, "b": {1: 1.0}}, name="s")
    with pytest.raises(ValueError, match=r"1 only in run 's' \['b'\], 1 only in qrels \['c'\]"):
        relevance_matrix(run, qrels(a=[1], c=[1]))


def test_qrels_sort_and_refuse():
    assert qrels(a=[3, 1, 3]).relevant[0].tolist() == [1, 3]
    with pytest.raises(ValueError, match="'a' has a negative"):
        qrels(a=[-1])
    with pytest.raises(ValueError, match="2 queries, but 1"):
        Qrels(("a", "b"), (np.array([1]),))


@pytest.mark.parametrize("documents", ["12", b"12", {1: 0.5}])
def test_qrels_of_what_is_no_list_are_refused(documents):
    with pytest.raises(ValueError, match="query 'a': .* is no (list of documents|whole number)"):
        Qrels.from_dict({"a": documents})
