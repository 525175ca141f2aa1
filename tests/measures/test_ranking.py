"""Ranking measures against their formulas, trec_eval's own outputs and ranx."""

import numpy as np
import pytest
import pytrec_eval
import ranx

from trivium.formats.trec import read_qrels, read_run
from trivium.measures.ranking import evaluate, means, select_measure
from trivium.measures.runs import Qrels, Run

NAMES = ("mrr", "mrr@2", "precision@1", "precision@5", "hits@1", "map", "map@2", "ndcg", "ndcg@2", "recall", "recall@5")


def synthetic(seed, queries=40, depth=20, documents=60):
    rng = np.random.default_rng(seed)
    names = tuple(f"q{row}" for row in range(queries))
    ids = np.stack([rng.choice(documents, depth, replace=False) for _ in names])
    relevant = tuple(rng.choice(documents, rng.integers(0, 6), replace=False) for _ in names)
    # Distinct scores: ranx leaves the order of ties open.
    return Run.from_scores(names, ids, rng.permuted(np.tile(np.arange(depth), (queries, 1)), axis=1)), Qrels(
        names, relevant
    )


def test_formulas_on_five_documents():
    run = Run.from_dict({"a": {1: 5.0, 2: 4.0, 3: 3.0, 4: 2.0, 5: 1.0}})
    values = evaluate(
        run, Qrels(("a",), ([2, 4, 9],)), ("mrr", "precision@2", "precision@10", "hits@1", "hits@2", "map")
    )
    assert values["mrr"] == pytest.approx([1 / 2])
    assert values["precision@2"] == pytest.approx([1 / 2])
    assert values["precision@10"] == pytest.approx([2 / 10])  # a short list is not an excuse
    assert values["hits@1"] == [0.0]
    assert values["hits@2"] == [1.0]
    assert values["map"] == pytest.approx([(1 / 2 + 2 / 4) / 3])  # document 9 was never retrieved
    graded = Qrels(("a",), ([2, 4, 9],), ([1, 3, 2],))
    values = evaluate(run, graded, ("ndcg", "ndcg@3", "recall", "recall@2"))
    ideal = 3 + 2 / np.log2(3)
    assert values["ndcg"] == pytest.approx([(1 / np.log2(3) + 3 / np.log2(5)) / (ideal + 1 / 2)])
    assert values["ndcg@3"] == pytest.approx([1 / np.log2(3) / (ideal + 1 / 2)])
    assert [values[name].tolist() for name in ("recall", "recall@2")] == [[2 / 3], [1 / 3]]


def test_a_query_without_relevant_or_retrieved_documents_counts_as_zero():
    run = Run.from_dict({"a": {1: 1.0}, "b": {1: 1.0}, "c": {}})
    values = evaluate(run, Qrels(("a", "b", "c"), ([1], [], [1])), NAMES)
    for name, per_query in values.items():
        best = 1 / 5 if name == "precision@5" else 1.0
        assert per_query == pytest.approx([best, 0, 0])
    assert means(values, "s")["s_mrr"] == pytest.approx(1 / 3)


def test_every_measure_of_a_run_without_documents_is_zero():
    run = Run.from_dict({"a": {}})
    for per_query in evaluate(run, Qrels(("a",), ([1],)), NAMES).values():
        assert per_query.tolist() == [0.0]


@pytest.mark.real
def test_trec_eval_gives_the_same_on_every_query(real):
    folder = real("trec_eval")
    vocabulary: dict[str, int] = {}
    run = read_run(folder / "results.test", vocabulary=vocabulary)
    qrels = read_qrels(folder / "qrels.test", vocabulary=vocabulary).select(run.queries)
    cutoffs = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
    ours = {"map": "map", "recip_rank": "mrr"}
    ours |= {f"P_{k}": f"precision@{k}" for k in cutoffs}
    ours |= {f"map_cut_{k}": f"map@{k}" for k in cutoffs}
    ours |= {f"recall_{k}": f"R@{k}" for k in cutoffs} | {f"ndcg_cut_{k}": f"nDCG@{k}" for k in cutoffs}
    ours |= {f"success_{k}": f"hits@{k}" for k in (1, 5, 10)} | {"ndcg": "nDCG"}
    values = evaluate(run, qrels, ours.values())
    compared = 0
    for line in (folder / "out.test.aq").read_text().splitlines():
        name, query, value = line.split()[:3]
        if name in ours and query != "all":
            assert f"{values[ours[name]][run.queries.index(query)]:.4f}" == value, (name, query)
            compared += 1
        elif name in ours:
            assert f"{values[ours[name]].mean():.4f}" == value, name
    assert compared == 3 * len(ours)


@pytest.mark.real
@pytest.mark.parametrize("name", ["results.test", "results.trunc"])
def test_a_foreign_run_has_trec_evals_order(real, name):
    """Unsorted, with equal scores; `results.trunc` has more columns, which only we and trec_eval's command pass over."""
    folder = real("trec_eval")
    vocabulary: dict[str, int] = {}
    run = read_run(folder / name, vocabulary=vocabulary)
    qrels = read_qrels(folder / "qrels.test", vocabulary=vocabulary).select(run.queries)
    with (folder / "qrels.test").open() as lines:
        evaluator = pytrec_eval.RelevanceEvaluator(pytrec_eval.parse_qrel(lines), {"recip_rank", "map", "P", "success"})
    lines = [" ".join(line.split()[:6]) for line in (folder / name).read_text().splitlines()]
    assert len(lines) > len({tuple(line.split()[::4]) for line in lines})  # equal scores of one query
    theirs = evaluator.evaluate(pytrec_eval.parse_run(lines))
    names = {"mrr": "recip_rank", "map": "map", "precision@5": "P_5", "precision@100": "P_100", "hits@10": "success_10"}
    for ours, values in evaluate(run, qrels, names).items():
        assert values == pytest.approx([theirs[query][names[ours]] for query in run.queries]), ours


@pytest.mark.parametrize("seed", range(3))
def test_ranx_gives_the_same(seed):
    run, qrels = synthetic(seed)
    judged = {q: {str(d): 1 for d in ids} or {"none": 0} for q, ids in zip(qrels.queries, qrels.relevant, strict=True)}
    ranked = {
        q: {str(d): float(s) for d, s in zip(*row, strict=True)}
        for q, *row in zip(run.queries, run.documents, run.scores, strict=True)
    }
    theirs = {
        "precision@1": "precision@1",
        "precision@5": "precision@5",
        "mrr": "mrr",
        "map": "map",
        "hits@5": "hit_rate@5",
        "recall@5": "recall@5",
        "ndcg@5": "ndcg@5",
    }
    values = evaluate(run, qrels, theirs)
    for name, their_name in theirs.items():
        expected = ranx.evaluate(ranx.Qrels(judged), ranx.Run(ranked), their_name, return_mean=False)
        # ranx sorts queries by name.
        assert values[name][np.argsort(run.queries)] == pytest.approx(expected), name


def test_the_order_of_queries_does_not_matter():
    run, qrels = synthetic(3)
    shuffled = [run.queries[row] for row in np.random.default_rng(0).permutation(len(run.queries))]
    before, after = evaluate(run, qrels, NAMES), evaluate(run.select(shuffled), qrels, NAMES)
    for name in NAMES:
        assert [before[name][run.queries.index(query)] for query in shuffled] == after[name].tolist()


@pytest.mark.parametrize(
    ("names", "ours"),
    [
        ("recip_rank RR MRR mrr", "mrr"),
        ("P_1 P@1 P.1 precision@1", "precision@1"),
        ("R@100 recall_100 Recall@100", "recall@100"),
        ("ndcg_cut_10 ndcg_cut.10 nDCG@10 NDCG@10", "ndcg@10"),
        ("map AP MAP", "map"),
        ("map_cut_5 AP@5", "map@5"),
        ("success_5 Success@5 hit_rate@5", "hits@5"),
    ],
)
def test_the_names_of_trec_eval_ir_measures_and_ranx_are_known(names, ours):
    assert {select_measure(name) for name in names.split()} == {select_measure(ours)}


@pytest.mark.parametrize(
    "name", ["nDGC", "P(rel=2)@5", "", "precision", "precision@", "hits@0", "mrr@x", "precision@-1", "map@"]
)
def test_unknown_names_are_refused_with_what_there_is(name):
    with pytest.raises(ValueError, match="choices: mrr, precision@K, recall, hits@K, map, ndcg|needs a cutoff"):
        select_measure(name)


def test_an_empty_run_is_refused():
    with pytest.raises(ValueError, match="no query"):
        evaluate(Run.from_dict({}), Qrels((), ()), ["mrr"])
