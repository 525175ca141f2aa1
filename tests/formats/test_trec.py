import numpy as np
import pytest
import pytrec_eval

from tests.formats.trec_readers import by_ranx, by_trec_eval, by_trivium
from trivium.core.errors import BadInput
from trivium.formats import trec
from trivium.measures.reorder import untie
from trivium.measures.runs import Qrels, Run


def test_a_run_comes_back_in_its_order_with_the_scores_of_the_file(tmp_path):
    run = Run.from_dict({"q1": {7: 1.0, 3: 1.0 - 1e-8, 9: 0.1 + 0.2}, "q2": {1: -5.0}}, depth=3, name="toy")
    trec.write_run(tmp_path / "r.trec", run)
    assert (tmp_path / "r.trec").read_text().splitlines()[1] == "q1 Q0 3 2 0.99999994 toy"
    back = trec.read_run(tmp_path / "r.trec")
    assert back.queries == run.queries
    assert back.name == "toy"
    zero = Run.from_dict({"q": {0: 2.0, 5: 1.0}}, name="toy")
    trec.write_run(tmp_path / "zero.trec", zero)
    np.testing.assert_array_equal(trec.read_run(tmp_path / "zero.trec").documents, [[0, 5]])
    np.testing.assert_array_equal(back.documents, [[7, 3, 9], [1, -1, -1]])
    np.testing.assert_array_equal(back.scores, untie(run.scores))


@pytest.mark.parametrize(
    "scores",
    [
        [5.0] * 6,  # equal
        0.9 - 1e-8 * np.arange(6),  # passages of one article
        [1e-40, 0.0, -0.0, 0.0, -1e-40, -3e38],
        np.nextafter(0.3, -1) - np.spacing(0.3) * np.arange(6),
    ],
)
def test_trec_eval_finds_the_order_that_was_written(tmp_path, scores):
    """The relevant document is each one in turn; the names' order is not that of the ranks."""
    documents = [20, 3, 100, 8, 1, 50]
    trec.write_run(tmp_path / "r.trec", Run(("q",), [documents], [scores]))
    with (tmp_path / "r.trec").open() as lines:
        run = pytrec_eval.parse_run(lines)
    for rank, document in enumerate(documents, 1):
        evaluator = pytrec_eval.RelevanceEvaluator({"q": {str(document): 1}}, {"recip_rank"})
        assert evaluator.evaluate(run)["q"]["recip_rank"] == 1 / rank


def test_every_reader_measures_the_same(tmp_path):
    """Articles of a few passages each, some of equal scores; a query without a list, one without judgements."""
    rng = np.random.default_rng(0)
    names = [f"q{number}" for number in range(30)]
    lists = {
        name: {
            int(article) * 10 + passage: score - 1e-8 * passage
            for article, score in zip(rng.permutation(40), rng.normal(size=40).round(1), strict=True)
            for passage in range(rng.integers(1, 4))
        }
        for name in names[1:]
    }
    trec.write_run(tmp_path / "r.trec", Run.from_dict(lists, depth=50, name="toy"))
    judged = {name: rng.choice(400, rng.integers(1, 40), replace=False).tolist() for name in names[:-1]}
    qrels = Qrels.from_dict({**judged, names[-1]: []})
    ours = by_trivium(tmp_path / "r.trec", qrels)
    assert 0 < np.mean(list(ours["hits@1"].values())) < 1
    for measured in (by_trec_eval(tmp_path / "r.trec", qrels), by_ranx(tmp_path / "r.trec", qrels)):
        for name, values in ours.items():
            assert measured[name] == pytest.approx(values, abs=1e-9), name


def test_a_foreign_run_is_read_as_trec_eval_reads_it(tmp_path):
    """Unsorted; equal in 32 bits: the last name first, 9 before 10 as it is later in the alphabet; more columns."""
    lines = ["b Q0 7 9 0.5 t", "a Q0 10 3 0.70000001 t", "a Q0 9 2 0.7 t more", "a Q0 5 1 -1e-3 t", "b Q0 8 1 2 t"]
    (tmp_path / "r.trec").write_text("\n".join(lines) + "\n")
    run = trec.read_run(tmp_path / "r.trec")
    assert run.queries == ("b", "a")
    assert run.documents.tolist() == [[8, 7, -1], [9, 10, 5]]
    assert run.scores[1, 0] == run.scores[1, 1] == np.float32(0.7)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("q Q0 1 1 0.5\n", "r.trec:1: wrong number of columns; got 5"),
        ("q Q0 d1 1 0.5 t\n", "field 'document': not a document number; got 'd1'"),
        ("q Q0 1 1 nan t\n", "field 'score': not a score; got 'nan'"),
        ("q Q0 1 1 1e39 t\n", "field 'score': not finite as a 32-bit float; got '1e39'"),
        ("q Q0 1 1 2 t\nq Q0 1 2 1 t\n", "r.trec:2: field 'document': document twice"),
        ("q Q0 1 first 2 t\n", "field 'rank': not a rank; got 'first'; expected a whole number"),
        ("q1 Q0 1 11 1 9.5 t\n", "r.trec:1: field 'tag': a number in place of the tag; got '9.5'"),
        ("q Q0 1 1 2 tq Q0 2 2 1 t\n", "r.trec:1: a second record in the line; got 'tq Q0 2 2 1 t'"),
        ("q 0 1 1 2 tq 0 2 2 1 t\n", "r.trec:1: a second record in the line; got 'tq 0 2 2 1 t'"),
        ("q - 1 1 2 t q - 2 2 1 t\n", "r.trec:1: a second record in the line; got 't q - 2 2 1 t'"),
        ("q Q0 1 1 2 t\rq Q0 2 2 1 t\n", "r.trec:1: a carriage return within the line"),
        ("q Q0 1 1 2 t\n\nq Q0 2 2 1 t\n", "r.trec:2: a blank line between records"),
        ("", "empty run"),
    ],
)
def test_bad_runs(tmp_path, text, message):
    (tmp_path / "r.trec").write_text(text)
    with pytest.raises(BadInput, match=message):
        trec.read_run(tmp_path / "r.trec")


def test_columns_are_parted_by_spaces_and_tabs_of_ascii_alone(tmp_path):
    """A no-break space is part of a name; text after the tag, and blank lines at the end, are passed over."""
    (tmp_path / "r.trec").write_bytes("\ufeffq\u00a01\tQ0 Soyuz\u00a011  1 9.5\tt more text\r\n\r\n\n".encode())
    vocabulary: dict[str, int] = {}
    assert trec.read_run(str(tmp_path / "r.trec"), vocabulary=vocabulary).queries == ("q\u00a01",)
    assert vocabulary == {"Soyuz\u00a011": 0}
    (tmp_path / "joined.trec").write_text("\ufeffq Q0 d 1 2 t\n\ufeffq Q0 e 2 1 t\n")
    assert trec.read_run(tmp_path / "joined.trec", vocabulary={}).queries == ("q",)
    (tmp_path / "tabs.trec").write_text("q1\tQ0\tSoyuz 11\t1\t  9.5\tt\nq1\tQ0 \tMir 2\t2\t8.5\tt\n")
    spaced: dict[str, int] = {}
    assert trec.read_run(tmp_path / "tabs.trec", vocabulary=spaced).documents.tolist() == [[0, 1]]
    assert spaced == {"Soyuz 11": 0, "Mir 2": 1}


def test_qrels_keep_queries_without_relevant_documents(tmp_path):
    qrels = Qrels(("q1", "q2"), (np.array([3, 5]), np.array([], dtype=np.int64)))
    trec.write_qrels(tmp_path / "q", qrels)
    back = trec.read_qrels(tmp_path / "q")
    assert back.queries == ("q1", "q2")
    assert [relevant.tolist() for relevant in back.relevant] == [[3, 5], []]
    with pytest.raises(BadInput, match="not a file's path; got 'a folder'"):
        trec.write_qrels(tmp_path, qrels)
    assert (tmp_path / "q").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("q 0 1 1\nq 0 2\n", "qrels:2: wrong number of columns; got 3; expected 4"),
        ("q 0 1 1.5\n", "qrels:1: field 'grade': not a grade; got '1.5'; expected a whole number"),
        ("q 0 1 1\nq 0 1 2\n", "qrels:2: field 'document': document judged twice for one query; got '1'"),
        ("q 0 5 1\nq 0 05 0\n", "qrels:2: field 'document': document judged twice for one query; got '05'"),
        ("q 0 d1 1\n", "qrels:1: field 'document': not a document number; got 'd1'"),
    ],
)
def test_bad_qrels(tmp_path, text, message):
    (tmp_path / "qrels").write_text(text)
    with pytest.raises(BadInput, match=message):
        trec.read_qrels(tmp_path / "qrels")


def test_run_over_given_questions(tmp_path):
    (tmp_path / "r.trec").write_text("b Q0 7 1 2.0 t\n")
    run = trec.read_run_over(tmp_path / "r.trec", ["a", "b"])
    assert run.queries == ("a", "b")
    np.testing.assert_array_equal(run.documents, [[-1], [7]])
    with pytest.raises(BadInput, match="r.trec: the run is not about these questions"):
        trec.read_run_over(tmp_path / "r.trec", ["a"])
