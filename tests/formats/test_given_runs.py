"""Whatever form runs and judgements have, the same is measured, and equal scores are ordered as trec_eval does."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

import trivium
from trivium.core.errors import BadInput
from trivium.formats.front_door import compare, evaluate, fuse, per_query, search_weights
from trivium.formats.given_runs import take
from trivium.formats.trec import write_run
from trivium.measures.runs import Qrels, Run
from trivium.measures.significance import holm

GRADES = {"q1": {"a": 1, "b": 0, "7": 2}, "q2": {"c": 1}, "q3": {"a": 0}}
RUN = {"q1": {"b": 3.0, "a": 2.0, "x": 2.0, "7": 1.0}, "q2": {"a": 1.0}}
# q1: b, then x before a, whose scores are equal, then 7: relevant at ranks 3 and 4. q2: nothing. q3: not in the run.
EXPECTED = {
    "mrr": {"q1": 1 / 3, "q2": 0.0, "q3": 0.0},
    "precision@1": {"q1": 0.0, "q2": 0.0, "q3": 0.0},
    "map": {"q1": (1 / 3 + 2 / 4) / 2, "q2": 0.0, "q3": 0.0},
}


def forms(folder: Path) -> dict[str, tuple[Any, Any]]:
    qrels, run = folder / "qrels", folder / "run"
    rows = [(query, document, grade) for query, judged in GRADES.items() for document, grade in judged.items()]
    qrels.write_text("".join(f"{query} 0 {document} {grade}\n" for query, document, grade in rows))
    ranked = [(query, document, score) for query, found in RUN.items() for document, score in found.items()]
    run.write_text("".join(f"{query} Q0 {document} 9 {score} t\n" for query, document, score in ranked))
    return {
        "dictionaries": (GRADES, RUN),
        "lists": ({query: [name for name, grade in each.items() if grade] for query, each in GRADES.items()}, RUN),
        "files": (qrels, str(run)),
        "tables": (
            pd.DataFrame(rows, columns=["query", "document", "relevance"]),
            pd.DataFrame(ranked, columns=["query_id", "doc_id", "score"]),
        ),
        "pyterrier's": (
            pd.DataFrame(rows, columns=["qid", "docno", "label"]),
            pd.DataFrame(ranked, columns=["qid", "docid", "score"]),
        ),
        "pyterrier's results": (
            pd.DataFrame(rows, columns=["qid", "docno", "label"]).assign(iteration="0"),
            pd.DataFrame(ranked, columns=["qid", "docno", "score"]).assign(docid=7, rank=0, query="its words"),
        ),
        "mixed": (GRADES, run),
    }


@pytest.mark.parametrize(
    "form", ["dictionaries", "lists", "files", "tables", "pyterrier's", "pyterrier's results", "mixed"]
)
def test_every_form_gives_every_judged_query_a_value(tmp_path: Path, form: str) -> None:
    qrels, run = forms(tmp_path)[form]
    found = per_query(qrels, run, list(EXPECTED))
    assert {name: dict(values) for name, values in found.items()} == {
        name: pytest.approx(values) for name, values in EXPECTED.items()
    }
    assert evaluate(qrels, run, ["mrr"]) == {"mrr": pytest.approx(1 / 9)}


def test_our_own_objects_are_taken_as_they_are() -> None:
    run = Run.from_dict({"q": {3: 1.0, 4: 1.0}}, name="ours")
    taken = take(Qrels.from_dict({"q": [3]}), [run])
    assert taken.names is None
    assert taken.runs[0].documents.tolist() == [[3, 4]], "equal scores keep the order that they have"
    assert isinstance(fuse([run, run]), Run)


def test_our_own_objects_may_bear_names(tmp_path: Path) -> None:
    run, qrels = Run.from_dict(RUN, name="ours"), Qrels.from_dict(GRADES)
    for judged, ranked in ((qrels, run), (GRADES, run), (qrels, RUN)):
        assert per_query(judged, ranked, "map") == {"map": pytest.approx(EXPECTED["map"])}
    trivium.write_run(str(tmp_path / "run"), run)
    trivium.write_qrels(str(tmp_path / "qrels"), qrels)
    again, judged = trivium.read_run(str(tmp_path / "run")), trivium.read_qrels(str(tmp_path / "qrels"))
    assert per_query(judged, again, "ndcg") == per_query(GRADES, RUN, "ndcg")
    fused = fuse([run, again], method="rrf")
    assert isinstance(fused, Run)
    assert trivium.to_frame(fused)["docno"].tolist() == ["b", "x", "a", "7", "a"]


def test_a_frame_for_pyterrier_has_its_columns_and_comes_back() -> None:
    frame = trivium.to_frame(RUN)
    assert [list(frame[name]) for name in ("qid", "docno", "rank")] == [
        ["q1"] * 4 + ["q2"],
        ["b", "x", "a", "7", "a"],
        [0, 1, 2, 3, 0],
    ]
    assert per_query(GRADES, frame, "ndcg") == per_query(GRADES, RUN, "ndcg")


names = st.text("ab12", min_size=1, max_size=2)
lists = st.dictionaries(names, st.sampled_from([0.5, 1.0, 2.0]), min_size=1, max_size=8)


@settings(deadline=None, max_examples=60)
@given(st.dictionaries(st.sampled_from(["q1", "q2", "q3"]), st.tuples(lists, st.sets(names)), min_size=1))
def test_as_trec_eval_with_many_equal_scores(world: dict[str, tuple[dict[str, float], set[str]]]) -> None:
    run = {query: ranked for query, (ranked, _) in world.items()}
    grades = {
        query: {name: len(name) * (name in relevant) - (name == "b") for name in {*ranked, *relevant}} | {"other": 0}
        for query, (ranked, relevant) in world.items()
    }  # of negative grades alone trec_eval writes beyond its table of levels, and may never come back
    names = ("recip_rank", "map", "P_5", "recall_5", "success_1", "ndcg", "ndcg_cut_5", "map_cut_5")
    evaluator = pytrec_eval.RelevanceEvaluator(
        grades, {"recip_rank", "map", "P.5", "recall.5", "success.1", "ndcg", "ndcg_cut.5", "map_cut.5"}
    )
    theirs, ours = evaluator.evaluate(run), per_query(grades, run, names)
    for name in names:
        assert ours[name] == pytest.approx({query: theirs[query][name] for query in world})


def test_a_fused_run_of_names_is_a_dictionary_best_first_and_may_be_measured() -> None:
    one, other = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"c": 1.0, "d": 0.0}}, {"q1": {"b": 5.0, "c": 1.0}}
    fused = fuse({"one": one, "other": other}, method="rrf")
    assert isinstance(fused, dict)
    assert list(fused["q1"]) == ["b", "a", "c"]  # 1/61 + 1/62, 1/61, 1/62
    assert fused["q1"] == pytest.approx({"b": 1 / 61 + 1 / 62, "a": 1 / 61, "c": 1 / 62})
    assert list(fused["q2"]) == ["c", "d"], "a query that a run lacks is there"
    assert evaluate({"q1": ["b"], "q2": ["c"]}, fused, ["mrr"]) == {"mrr": 1.0}


def test_a_run_of_ours_keeps_its_order_of_equal_scores() -> None:
    numbered = Run.from_dict({"q": {1: 0.5, 2: 0.5, 10: 0.5}})
    assert evaluate({"q": ["1"]}, numbered, ["mrr"]) == evaluate(Qrels.from_dict({"q": {1: 1}}), numbered, ["mrr"])


def test_documents_of_equal_fused_scores_are_ordered_by_name_last_name_first() -> None:
    fused = fuse([{"q": {"a": 2.0, "b": 1.0}}, {"q": {"b": 2.0, "a": 1.0}}], method="rrf")
    assert isinstance(fused, dict)
    assert list(fused["q"].items()) == [("b", 1 / 61 + 1 / 62), ("a", 1 / 61 + 1 / 62)]


def test_searched_weights_have_the_names_of_the_systems_and_the_best_value() -> None:
    rng = np.random.default_rng(0)
    qrels = {f"q{number}": [f"d{number}"] for number in range(20)}
    good = {
        query: {f"d{number}": float(rng.normal() + 3 * (f"d{number}" in qrels[query])) for number in range(20)}
        for query in qrels
    }
    noise = {query: {f"d{number}": float(rng.normal()) for number in range(20)} for query in qrels}
    weights = search_weights(qrels, {"noise": noise, "good": good}, step=0.25)
    tried = {
        share: evaluate(qrels, fuse({"noise": noise, "good": good}, [share, 1 - share]), ["mrr"])["mrr"]
        for share in (0, 0.25, 0.5, 0.75, 1)
    }
    assert list(weights) == ["noise", "good"]
    assert tried[weights["noise"]] == pytest.approx(max(tried.values()))
    assert search_weights(qrels, {"noise": noise, "good": good}) == search_weights(
        qrels, {"noise": noise, "good": good}, step=0.1
    )
    for measure in ("nDCG@3", "R@2", "recip_rank", "RR@2"):
        best = search_weights(qrels, {"noise": noise, "good": good}, measure=measure, step=0.25)
        tried = [
            evaluate(qrels, fuse({"noise": noise, "good": good}, [share, 1 - share]), measure)[measure]
            for share in (0, 0.25, 0.5, 0.75, 1)
        ]
        assert best["noise"] == tried.index(max(tried)) / 4


def test_a_comparison_is_corrected_over_its_pairs(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    qrels = {f"q{number}": ["a"] for number in range(30)}

    def system(share: float) -> dict[str, dict[str, float]]:
        return {query: {"a": float(rng.random() < share), "b": 0.5} for query in qrels}

    found = compare(qrels, {"weak": system(0.1), "fair": system(0.5), "good": system(0.9)}, ["mrr", "precision@1"])
    pairs = np.triu_indices(3, 1)
    for measure in ("mrr", "precision@1"):
        np.testing.assert_array_equal(found.p_holm[measure][pairs], holm(found.p[measure][pairs]))
        np.testing.assert_array_equal(found.p_holm[measure], found.p_holm[measure].T)
        assert (found.p_holm[measure] >= found.p[measure]).all()
    assert "c  good" in str(found)
    write_run(tmp_path / "run", Run.from_dict({"q0": {1: 1.0}}, name="tagged"))
    assert compare({"q0": ["1"]}, [tmp_path / "run", {"q0": {"1": 1.0}}]).systems == ("tagged", "run 2")


@pytest.mark.parametrize(
    ("qrels", "run", "problem"),
    [
        ({"q": {"a": 0.5}}, {"q": {"a": 1.0}}, "'a' is no whole number"),
        ({"q": ["a"]}, {"q": {"a": float("nan")}}, "query 'q': the score nan of 'a' is no finite number"),
        ({"q": ["a"]}, {"q": ["a"]}, r"query 'q': \['a'\] is no {document: score}"),
        ({"q": "d12"}, {"q": {"d12": 1.0}}, "query 'q': 'd12' is neither {document: grade} nor a list"),
        ({"q": [b"d"]}, {"q": {"d": 1.0}}, "query 'q': b'd' is no name"),
        ({"1": ["a"], 1.0: ["b"]}, {"1": {"a": 1.0}}, "query '1' stands twice"),
        ({"q": ["1", 1.0]}, {"q": {"1": 1.0}}, "query 'q': '1' is judged twice"),
        ({"q": ["a"]}, {"q": {"1": 1.0, 1: 2.0}}, "a document twice"),
        ({"q": ["a"]}, {"r": {"a": 1.0}}, "not judged.*the run .* has 1 of 1 queries, the first .'r'"),
        ({"q": ["a"]}, [("q", "a", 1.0)], "list is no run and no judgements"),
        (
            {"q": ["a"]},
            pd.DataFrame({"query": ["q"], "text": ["a"]}),
            r"no column document or doc_id.*it has query, text",
        ),
        (5, {"q": {"a": 1.0}}, "int is no run and no judgements"),
    ],
)
def test_what_is_no_run_is_refused(qrels: Any, run: Any, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        evaluate(qrels, run, ["mrr"])


def test_a_broken_file_is_named_with_its_row(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("q Q0 a 1 2.0 t\nq Q0 a\n")
    with pytest.raises(BadInput, match=r"run:2"):
        evaluate({"q": ["a"]}, tmp_path / "run", ["mrr"])


def test_a_whole_float_is_the_number_that_pandas_made_it_of(tmp_path: Path) -> None:
    qrels = {"1": {"10": 1}, "2": {"11": 1}}
    assert trivium.evaluate(qrels, {1.0: {10.0: 2.0, 12: 1.0}, 2: {11.0: 0.5}}, "mrr") == {"mrr": 1.0}
    table = pd.DataFrame({"query": [1.0, 2.0], "document": [10.0, 11.0], "score": [2.0, 0.5]})
    assert trivium.evaluate(qrels, table, ["mrr"]) == {"mrr": 1.0}
    with pytest.raises(ValueError, match="query nan: nan is no name"):
        trivium.evaluate(qrels, pd.DataFrame({"query": [np.nan], "document": [1], "score": [1.0]}), "mrr")


@pytest.mark.parametrize(
    ("qrels", "run", "problem"),
    [
        (
            {"q": {"d10": 1, "d11": 0}},
            {"q": {"D10": 1.0}},
            "for 'q' .* such as 'D10', the judgements of 'q' such as 'd1",
        ),
        (Qrels.from_dict({"q": [1]}), Run.from_dict({"q": {2: 1.0}}), "for 'q' .* such as '2', .* of 'q' such as '1'"),
    ],
)
def test_a_run_of_which_nothing_is_judged_is_warned_of(qrels: Any, run: Any, problem: str) -> None:
    with pytest.warns(UserWarning, match=f"nothing that the run 'run 1' retrieved is judged.*{problem}"):
        assert trivium.evaluate(qrels, run, "mrr") == {"mrr": 0.0}


def test_any_run_may_be_written(tmp_path: Path) -> None:
    path = tmp_path / "fused.trec"
    trivium.write_run(path, {1.0: {10.0: 1.0, "b": 1.0}})
    assert path.read_text() == "1 Q0 b 1 1 fused\n1 Q0 10 2 0.99999994 fused\n"
    trivium.write_run(path, pd.DataFrame({"query": ["q"], "document": [3], "score": [0.5]}))
    assert path.read_text() == "q Q0 3 1 0.5 fused\n"
    for run, problem in {
        "is no {document: score}": {"q": ["a"]},
        "the score None of 'a' is no finite": {"q": {"a": None}},
        "'q 1' is empty or has white space": {"q 1": {"a": 1.0}},
        "the name '' is empty": {"q": {"": 1.0}},
    }.items():
        with pytest.raises(ValueError, match=run):
            trivium.write_run(path, problem)
    with pytest.raises(ValueError, match="dict is no Qrels"):
        trivium.write_qrels(path, {"q": ["a"]})
    assert path.read_text() == "q Q0 3 1 0.5 fused\n", "nothing is half-written"


def test_what_one_call_returns_the_next_one_takes(tmp_path: Path) -> None:
    runs = {"a": {"q": {"x": 2.0, "y": 1.0}}, "b": {"q": {"y": 3.0, "z": 1.0}}}
    weights = trivium.search_weights({"q": ["y"]}, runs)
    fused = trivium.fuse(runs, weights)
    assert fused == trivium.fuse(runs, [weights["a"], weights["b"]])
    trivium.write_run(str(tmp_path / "fused.trec"), fused)
    assert list(trivium.read_run(str(tmp_path / "fused.trec")).names) == list(fused["q"])
    with pytest.raises(ValueError, match="weights of a, c, but the systems are a, b"):
        trivium.fuse(runs, {"a": 0.5, "c": 0.5})


A, B = {"q": {"x": 2.0, "y": 1.0}}, {"q": {"y": 3.0, "z": 1.0}}


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (lambda: fuse([A, B], depth=-1), "the depth -1 is no whole number from 1"),
        (lambda: fuse([A, B], depth=1.5), "the depth 1.5 is no"),
        (lambda: trivium.search_weights({"q": ["x"]}, [A, B], depth=0), "the depth 0 is no"),
        (lambda: fuse([A, B], 0.5), "weights of 0.5: they are a list of numbers"),
        (lambda: fuse([A, B], {0.5, 0.4}), "weights of {0"),
        (lambda: fuse([A, B], ["1", "2"]), "the weight '1' is no number"),
        (lambda: fuse([A, B], [None, 1]), "the weight None is no number"),
        (lambda: fuse([A, B], {0: 1, 1: 0}), "weights of 0, 1, but the systems are run 1, run 2"),
        (lambda: fuse(pd.DataFrame({"query": ["q"]})), "DataFrame is no list and no mapping of runs"),
        (lambda: compare({"q": ["x"]}, {1: A, 2: B}), "1 is no name of a system"),
        (lambda: compare({"q": ["x"]}, [A, B], level=5), "the level 5 does not lie between 0 and 1"),
        (lambda: evaluate({"q": ["x"]}, {"q": {2.0**53: 1.0}}, "mrr"), "query 'q': the name 9.* too large to be exact"),
        (
            lambda: evaluate({"q": ["x"]}, pd.DataFrame([["q", "r", "x", 1]], columns=[*"ab", "c", "d"]).set_axis(
                ["query", "query", "document", "score"], axis=1), "mrr"),
            "the table has 2 columns 'query'",
        ),
    ],
)  # fmt: skip
def test_what_would_be_a_wrong_number_is_refused(call: Any, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        call()


def test_a_run_without_any_document_is_warned_of() -> None:
    with pytest.warns(UserWarning, match="the run 'run 1' has no document at all"):
        assert trivium.evaluate({"q": ["x"]}, {}, "mrr") == {"mrr": 0.0}


def test_a_folder_is_not_written_over_and_a_tag_is_one_column(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("")
    for run in (A, Run.from_dict({"q": {1: 1.0}})):
        with pytest.raises(BadInput, match="got 'a folder'"):
            trivium.write_run(tmp_path, run)
    assert (tmp_path / "kept").exists()
    trivium.write_run(tmp_path / "3 runs", A)
    assert evaluate({"q": ["x"]}, tmp_path / "3 runs", "mrr") == {"mrr": 1.0}
    trivium.write_run(tmp_path / "run", Run.from_dict({"q": {1: 1.0}}, name="a\nb"))
    assert trivium.read_run(tmp_path / "run").name == "a_b"
