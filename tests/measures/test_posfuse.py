"""PosFuse on three documents by hand, against ranx, and what must not change it."""

from fractions import Fraction

import numpy as np
import pytest
import ranx
from ranx.fusion.posfuse import posfuse_train

from trivium.measures.fusion import NORMALIZATIONS, gather, normalize, position_parts, position_probabilities
from trivium.measures.runs import Qrels, Run

# Training: two systems on documents 1, 2, 3.
A = Run.from_dict({"q": {1: 3.0, 2: 2.0, 3: 1.0}, "r": {2: 2.0, 1: 1.0}, "s": {3: 1.0}, "t": {}}, name="a")
B = Run.from_dict({"q": {3: 9.0, 1: 5.0}, "r": {1: 1.0}, "s": {}, "t": {}}, name="b")
QRELS = Qrels(("q", "r", "s", "t"), ([1, 3], [1], [], [2]))


def pos_fusion(runs, probabilities, *, depth, name=""):
    candidates = gather(runs)
    scores = position_parts(candidates, probabilities).sum(axis=0)
    return Run.from_scores(candidates.queries, candidates.documents, scores, depth=depth, name=name)


def synthetic(seed, systems=3, queries=15, documents=25, depth=8):
    """Lists of different lengths, some empty for one system."""
    rng = np.random.default_rng(seed)
    names = tuple(f"q{row:02}" for row in range(queries))
    relevant = tuple(np.sort(rng.choice(documents, rng.integers(1, 5), replace=False)) for _ in names)
    runs = []
    for number in range(systems):
        lists = {}
        for row, name in enumerate(names):
            length = rng.integers(1, depth + 1) if row % 5 != number else 0
            ids = rng.choice(documents, length, replace=False)
            lists[name] = dict(zip(ids.tolist(), rng.random(length).tolist(), strict=True))
        runs.append(Run.from_dict(lists, name=f"s{number}"))
    return runs, Qrels(names, relevant)


def as_ranx(run):
    """Queries without a list are left out: ranx cannot hold them."""
    lists = {
        query: {str(d): float(s) for d, s in zip(documents, scores, strict=True) if d >= 0}
        for query, documents, scores in zip(run.queries, run.documents, run.scores, strict=True)
    }
    return ranx.Run({query: found for query, found in lists.items() if found})


def as_ranx_qrels(qrels, queries):
    chosen = qrels.select(queries)
    return ranx.Qrels({q: {str(d): 1 for d in ids} for q, ids in zip(chosen.queries, chosen.relevant, strict=True)})


def test_probabilities_by_hand():
    # Position 1 of a: document 1 relevant to q, 2 not to r, 3 not to s; position 2: 2 no, 1 yes; position 3: 3 yes.
    assert position_probabilities(A, QRELS).tolist() == [1 / 3, 1 / 2, 1]
    assert position_probabilities(B, QRELS).tolist() == [1, 1]


def test_fusion_by_hand():
    new = [Run.from_dict({"n": {1: 3.0, 2: 2.0, 3: 1.0}}), Run.from_dict({"n": {3: 0.9, 2: 0.8, 4: 0.7}})]
    fused = pos_fusion(new, [np.array([1 / 3, 1 / 2, 1]), np.array([1.0, 1 / 4])], depth=None, name="f")
    # Document 4 stands beyond what the second system learned.
    assert fused.documents.tolist() == [[3, 2, 1, 4]]
    assert fused.scores[0].tolist() == [1 + 1, 1 / 2 + 1 / 4, 1 / 3, 0]
    assert fused.name == "f"
    assert pos_fusion(new, [np.ones(3), np.ones(2)], depth=2).documents.shape == (1, 2)


@pytest.mark.parametrize("seed", range(3))
def test_agrees_with_ranx(seed):
    runs, qrels = synthetic(seed)
    learned = [position_probabilities(run, qrels) for run in runs]
    for run, ours in zip(runs, learned, strict=True):
        served = [query for query, documents in zip(run.queries, run.documents, strict=True) if documents[0] >= 0]
        theirs = posfuse_train(as_ranx_qrels(qrels, served), [as_ranx(run)])[0]
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)

    served = [query for row, query in enumerate(qrels.queries) if all(run.documents[row, 0] >= 0 for run in runs)]
    chosen = [run.select(served) for run in runs]
    theirs = ranx.fuse([as_ranx(run) for run in chosen], norm="rank", method="posfuse", params={"probs": learned})
    fused = pos_fusion(chosen, learned, depth=None)
    for query, documents, scores in zip(fused.queries, fused.documents.tolist(), fused.scores.tolist(), strict=True):
        found = {str(d): s for d, s in zip(documents, scores, strict=True) if d >= 0}
        assert found == pytest.approx(theirs.to_dict()[query], abs=1e-12)


@pytest.mark.parametrize("name", NORMALIZATIONS)
def test_a_normalisation_that_keeps_the_order_changes_nothing(name):
    runs, qrels = synthetic(3)
    candidates = gather(runs)
    normalized = [
        Run.from_scores(candidates.queries, np.where(ranks > 0, candidates.documents, -1), scores)
        for ranks, scores in zip(candidates.ranks, normalize(candidates, name), strict=True)
    ]
    expected = pos_fusion(runs, [position_probabilities(run, qrels) for run in runs], depth=None)
    fused = pos_fusion(normalized, [position_probabilities(run, qrels) for run in normalized], depth=None)
    np.testing.assert_array_equal(fused.documents, expected.documents)
    np.testing.assert_array_equal(fused.scores, expected.scores)


def test_the_order_of_queries_and_cut_lists_do_not_matter():
    runs, qrels = synthetic(4)
    whole = position_probabilities(runs[0], qrels)
    shuffled = [qrels.queries[row] for row in np.random.default_rng(0).permutation(len(qrels.queries))]
    np.testing.assert_array_equal(position_probabilities(runs[0].select(shuffled), qrels), whole)
    cut = Run(runs[0].queries, runs[0].documents[:, :3], runs[0].scores[:, :3])
    np.testing.assert_array_equal(position_probabilities(cut, qrels), whole[:3])
    learned = [position_probabilities(run, qrels) for run in runs]
    fused = pos_fusion([run.select(shuffled) for run in runs], learned, depth=None).select(qrels.queries)
    np.testing.assert_array_equal(fused.documents, pos_fusion(runs, learned, depth=None).documents)


def test_ties_go_to_the_lower_document_and_an_empty_run_learns_nothing():
    flat = pos_fusion([Run.from_dict({"n": {7: 2.0, 3: 1.0}})], [np.array([0.5, 0.5])], depth=None)
    assert flat.documents.tolist() == [[3, 7]]
    assert position_probabilities(Run.from_dict({"n": {}}), Qrels(("n",), ([1],))).tolist() == []
    padded = A.complete((*A.queries, "u"))
    again = position_probabilities(padded, Qrels((*QRELS.queries, "u"), (*QRELS.relevant, np.array([1]))))
    assert again.tolist() == [float(Fraction(1, 3)), 0.5, 1]
