import numpy as np
import pytest

from trivium.formats.trec import read_run, write_run
from trivium.measures.reorder import first, follow, reorder
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


def test_no_documents_at_all():
    empty = Run(("a",), np.empty((1, 0), np.int64), np.empty((1, 0)))
    assert reorder(empty, np.empty((1, 0))).documents.shape == (1, 0)


def test_a_score_that_is_not_a_number():
    with pytest.raises(ValueError, match="query 'a' has a score that is not finite"):
        reorder(RUN, np.array([[1.0, np.nan, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]))


def test_the_rest_follows_in_its_order_below_the_head():
    run = Run.from_dict({"q": {1: 5.0, 2: 4.0, 3: 3.0, 4: 2.0}, "r": {7: 1.0, 8: 0.5}, "s": {}})
    head = reorder(first(run, 2), np.array([[0.25, 0.75], [0.5, 0.5], [np.nan, np.nan]]))
    whole = follow(head, run)
    assert whole.documents.tolist() == [[2, 1, 3, 4], [7, 8, -1, -1], [-1, -1, -1, -1]]
    assert whole.scores[0, :2].tolist() == [0.75, 0.25]
    assert 0.25 > whole.scores[0, 2] > whole.scores[0, 3] > 0.25 - 1e-7
    assert follow(run, run).documents.tolist() == run.documents.tolist()
