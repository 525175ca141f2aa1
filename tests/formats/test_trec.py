import numpy as np
import pytest

from trivium.errors import BadInput
from trivium.formats import trec
from trivium.measures.runs import Qrels, Run


def test_run_round_trip_keeps_every_digit(tmp_path):
    run = Run.from_dict({"q1": {7: 1.0, 3: 1.0 - 1e-8, 9: 0.1 + 0.2}, "q2": {1: -5.0}}, depth=3, name="toy")
    trec.write_run(tmp_path / "r.trec", run)
    back = trec.read_run(tmp_path / "r.trec")
    assert back.queries == run.queries
    assert back.name == "toy"
    np.testing.assert_array_equal(back.documents, [[7, 3, 9], [1, -1, -1]])
    np.testing.assert_array_equal(back.scores, run.scores)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("q Q0 1 1 0.5\n", "r.trec:1: wrong number of columns; got 5"),
        ("q Q0 d1 1 0.5 t\n", "field 'document': not a document number; got 'd1'"),
        ("q Q0 1 1 nan t\n", "field 'score': not a score; got 'nan'"),
        ("q Q0 1 1 inf t\n", "field 'score': not a score; got 'inf'"),
        ("q Q0 1 1 -1e999 t\n", "field 'score': not a score; got '-1e999'; expected a finite number"),
        ("q Q0 ² 1 1 t\n", "field 'document': not a document number; got '²'"),
        (f"q Q0 {'9' * 5000} 1 1 t\n", "field 'document': not a document number; got '9+"),
        ("q Q0 1 1 x t\n", "field 'score': not a score; got 'x'"),
        ("q Q0 1 1 2 t\nq Q0 1 2 1 t\n", "r.trec:2: field 'document': document twice"),
        ("", "empty run"),
    ],
)
def test_bad_runs(tmp_path, text, message):
    (tmp_path / "r.trec").write_text(text)
    with pytest.raises(BadInput, match=message):
        trec.read_run(tmp_path / "r.trec")


def test_qrels_keep_queries_without_relevant_documents(tmp_path):
    qrels = Qrels(("q1", "q2"), (np.array([3, 5]), np.array([], dtype=np.int64)))
    trec.write_qrels(tmp_path / "q", qrels)
    back = trec.read_qrels(tmp_path / "q")
    assert back.queries == ("q1", "q2")
    assert [relevant.tolist() for relevant in back.relevant] == [[3, 5], []]


@pytest.mark.parametrize("read", [trec.read_run, trec.read_qrels])
def test_a_file_that_is_missing_or_not_utf_8_is_named(tmp_path, read):
    path = tmp_path / "lines"
    with pytest.raises(BadInput, match="lines: no such file"):
        read(path)
    path.write_bytes("été\n".encode("latin-1"))
    with pytest.raises(BadInput, match="lines:1: not UTF-8"):
        read(path)


def test_run_over_given_questions(tmp_path):
    (tmp_path / "r.trec").write_text("b Q0 7 1 2.0 t\n")
    run = trec.read_run_over(tmp_path / "r.trec", ["a", "b"])
    assert run.queries == ("a", "b")
    np.testing.assert_array_equal(run.documents, [[-1], [7]])
    with pytest.raises(BadInput, match="r.trec: the run is not about these questions"):
        trec.read_run_over(tmp_path / "r.trec", ["a"])
