"""Fusion on three documents by hand, against ranx, and where lists, ties and queries are missing or moved."""

import numpy as np
import pytest
import ranx
from ranx.normalization import rank_norm

from trivium.measures.fusion import (
    NORMALIZATIONS,
    gather,
    linear_fusion,
    normalize,
    reciprocal_rank_fusion,
    scales,
    standardize,
    unit_sum,
    weighted_sum,
)
from trivium.measures.runs import Run

A = Run.from_dict({"q": {1: 4.0, 2: 2.0}, "r": {1: 1.0}}, name="a")
B = Run.from_dict({"q": {3: 9.0, 2: 5.0, 4: 1.0}, "r": {}}, name="b")


def synthetic(seed, systems=3, queries=12, depth=8, documents=20, distinct=True):
    rng = np.random.default_rng(seed)
    names = tuple(f"q{row:02}" for row in range(queries))
    runs = []
    for number in range(systems):
        ids = np.stack([rng.choice(documents, depth, replace=False) for _ in names])
        scores = rng.random((queries, depth)) if distinct else rng.integers(0, 3, (queries, depth))
        runs.append(Run.from_scores(names, ids, scores, name=f"s{number}"))
    return runs


def as_ranx(run):
    return ranx.Run(
        {q: {str(d): float(s) for d, s in zip(*row, strict=True)}
         for q, *row in zip(run.queries, run.documents, run.scores, strict=True)}
    )  # fmt: skip


def scores_of(run):
    return {
        query: {int(d): s for d, s in zip(*row, strict=True) if d >= 0}
        for query, *row in zip(run.queries, run.documents, run.scores, strict=True)
    }


def test_gather_aligns_scores_and_ranks_on_the_union():
    candidates = gather([A, B])
    nan = np.nan
    assert candidates.documents.tolist() == [[1, 2, 3, 4], [1, -1, -1, -1]]
    np.testing.assert_array_equal(candidates.scores[0], [[4, 2, nan, nan], [1, nan, nan, nan]])
    np.testing.assert_array_equal(candidates.scores[1], [[nan, 5, 9, 1], [nan] * 4])
    assert candidates.ranks.tolist() == [[[1, 2, 0, 0], [1, 0, 0, 0]], [[0, 2, 1, 3], [0, 0, 0, 0]]]


def test_one_question_standardised_by_the_scales_of_a_run_scores_as_in_that_run():
    runs = synthetic(5)
    together = gather(runs)
    of_run = normalize(together, "z_score")
    for row, query in enumerate(together.queries):
        alone = gather([run.select([query]) for run in runs])
        width = alone.documents.shape[1]
        assert (alone.documents[0] == together.documents[row, :width]).all()
        np.testing.assert_array_equal(standardize(alone, scales([together]))[:, 0], of_run[:, row, :width])


def test_z_score_fills_first_then_takes_one_mean_over_the_run():
    a, b = normalize(gather([A, B]), "z_score")
    # a: minimum 2 of q filled in for documents 3 and 4, then r's only score: 4 2 2 2 | 1
    filled = np.array([4, 2, 2, 2, 1])
    expected = (filled - filled.mean()) / filled.std()
    assert a[0] == pytest.approx(expected[:4])
    assert a[1] == pytest.approx([expected[4], 0, 0, 0])
    # b: no list at all for r, which neither gets a minimum nor counts in the mean
    filled = np.array([1, 5, 9, 1])
    assert b[0] == pytest.approx((filled - filled.mean()) / filled.std())
    assert b[1].tolist() == [0, 0, 0, 0]


def test_min_max_and_rank_by_hand():
    a, b = normalize(gather([A, B]), "min_max")
    assert a[0].tolist() == [(4 - 2) / (4 - 2), 0, 0, 0]
    assert b[0].tolist() == [0, (5 - 1) / (9 - 1), 1, 0]
    assert a[1].tolist() == b[1].tolist() == [0, 0, 0, 0]
    a, b = normalize(gather([A, B]), "rank")
    assert a[0] == pytest.approx([1, 1 - 1 / 2, 1 / 2, 1 / 2])
    assert b[0] == pytest.approx([1 / 3, 1 - 1 / 3, 1, 1 - 2 / 3])
    assert a[1].tolist() == [1, 0, 0, 0]
    assert b[1].tolist() == [0, 0, 0, 0]


def test_linear_fusion_by_hand():
    fused = linear_fusion([A, B], [1, 3], depth=None, normalization="min_max", name="f")
    assert fused.documents[0].tolist() == [3, 2, 1, 4]
    assert fused.scores[0] == pytest.approx([0.75 * 1, 0.75 * 0.5, 0.25 * 1, 0])
    assert fused.documents[1].tolist() == [1, -1, -1, -1]
    assert fused.name == "f"
    assert linear_fusion([A, B], [1, 3], depth=2).documents.shape == (2, 2)


def test_routing_is_the_empty_list():
    # A face (first query): α_b B + α_a A. None (second): α_b B + α_i I. An empty list shifts all candidates alike.
    text = Run.from_dict({"face": {1: 2.0, 2: 1.0, 3: 0.0}, "none": {1: 2.0, 2: 1.0, 3: 0.0}})
    faces = Run.from_dict({"face": {3: 1.0, 2: 0.5, 1: 0.0}, "none": {}})
    whole = Run.from_dict({"face": {}, "none": {2: 1.0, 3: 0.5, 1: 0.0}})
    alone = {
        "face": linear_fusion([text.select(["face"]), faces.select(["face"])], [0.3, 0.7], depth=None),
        "none": linear_fusion([text.select(["none"]), whole.select(["none"])], [0.3, 0.5], depth=None),
    }
    fused = linear_fusion([text, faces, whole], [0.3, 0.7, 0.5], depth=None)
    for row, query in enumerate(fused.queries):
        assert fused.documents[row].tolist() == alone[query].documents[0].tolist()
    assert fused.documents.tolist() == [[3, 2, 1], [2, 1, 3]]


def test_reciprocal_rank_fusion_by_hand():
    fused = reciprocal_rank_fusion([A, B], k=60, depth=None)
    assert fused.documents[0].tolist() == [2, 1, 3, 4]  # 1 and 3 tie: lower id first
    assert fused.scores[0] == pytest.approx([1 / 62 + 1 / 62, 1 / 61, 1 / 61, 1 / 63])
    assert fused.documents[1].tolist() == [1, -1, -1, -1]


def test_reciprocal_rank_fusion_agrees_with_ranx():
    runs = synthetic(0)
    theirs = ranx.fuse([as_ranx(run) for run in runs], norm=None, method="rrf").to_dict()
    for query, scores in scores_of(reciprocal_rank_fusion(runs, depth=None)).items():
        assert scores == pytest.approx({int(d): s for d, s in theirs[query].items()})


FULL = {"depth": 10, "documents": 10}  # every system returns every document: ranx gives missing ones 0


@pytest.mark.parametrize(
    ("ours", "theirs", "world"),
    [
        ("min_max", "min-max", {"seed": 1} | FULL),
        ("rank", "rank", {"seed": 1} | FULL),
        ("min_max", "min-max", {"seed": 6}),  # a system's minimum becomes 0, ranx's value of missing documents
        ("z_score", "zmuv", {"seed": 2, "queries": 1} | FULL),  # ranx normalises over a query, we over the run
    ],
)
def test_linear_fusion_agrees_with_ranx(ours, theirs, world):
    runs = synthetic(**world)
    expected = ranx.fuse(
        [as_ranx(run) for run in runs], norm=theirs, method="wsum", params={"weights": [0.5, 0.2, 0.3]}
    ).to_dict()
    fused = linear_fusion(runs, [0.5, 0.2, 0.3], depth=None, normalization=ours)
    for query, scores in scores_of(fused).items():
        assert scores == pytest.approx({int(d): s for d, s in expected[query].items()}, abs=1e-12)


def test_ranks_agree_with_ranx_and_missing_documents_share_the_last():
    runs = synthetic(7)
    candidates = gather(runs)
    for run, ranks, normalized in zip(runs, candidates.ranks, normalize(candidates, "rank"), strict=True):
        expected = rank_norm(as_ranx(run)).to_dict()
        for row, query in enumerate(candidates.queries):
            returned = ranks[row] > 0
            found = dict(zip(map(str, candidates.documents[row, returned]), normalized[row, returned], strict=True))
            assert found == pytest.approx(expected[query], abs=1e-12)
            missing = ~returned & (candidates.documents[row] >= 0)
            assert set(normalized[row, missing]) == {normalized[row, returned].min()}


@pytest.mark.parametrize("name", NORMALIZATIONS)
def test_equal_scores_tell_nothing(name):
    flat = Run.from_dict({q: dict.fromkeys(range(7), 0.1) for q in "qr"})
    informed = Run.from_dict({q: {d: float(d) for d in range(7)} for q in "qr"})
    fused = linear_fusion([flat, informed], [0.9, 0.1], depth=1, normalization=name)
    expected = 6 if name != "rank" else 0  # a rank is information: the run's order of ties counts
    assert fused.documents.tolist() == [[expected], [expected]]


@pytest.mark.parametrize("name", NORMALIZATIONS)
def test_the_scale_of_the_weights_and_the_order_of_queries_do_not_matter(name):
    runs = synthetic(4, distinct=False)
    fused = linear_fusion(runs, [0.2, 0.7, 0.1], depth=15, normalization=name)
    scaled = linear_fusion(runs, [2, 7, 1], depth=15, normalization=name)
    np.testing.assert_array_equal(fused.documents, scaled.documents)
    shuffled = [runs[0].queries[row] for row in np.random.default_rng(0).permutation(12)]
    moved = linear_fusion([runs[0].select(shuffled), *runs[1:]], [0.2, 0.7, 0.1], depth=15, normalization=name).select(
        runs[0].queries
    )
    np.testing.assert_array_equal(fused.documents, moved.documents)
    np.testing.assert_allclose(fused.scores, moved.scores, rtol=0, atol=1e-12)


def test_one_scale_and_one_weight_a_system():
    both, alone = gather([A, B]), gather([A])
    with pytest.raises(ValueError, match="argument 2 is shorter"):
        standardize(both, scales([alone]))
    with pytest.raises(ValueError, match="argument 2 is shorter"):
        scales([both, alone])
    with pytest.raises(ValueError, match="argument 2 is shorter"):
        weighted_sum(np.ones((2, 5)), np.array([0.2, 0.3, 0.5]))
    assert weighted_sum(np.ones((2, 5)), np.array([0.2, 0.8])).tolist() == [1] * 5


def test_bad_input_is_refused():
    other = Run.from_dict({"q": {1: 1.0}}, name="other")
    with pytest.raises(ValueError, match=r"1 only in run 'a' \['r'\]"):
        gather([A, other])
    with pytest.raises(ValueError, match="nothing to fuse"):
        gather([])
    with pytest.raises(ValueError, match="without query"):
        gather([Run.from_dict({})])
    with pytest.raises(ValueError, match="2 runs, but 1 weights"):
        linear_fusion([A, B], [1], depth=None)
    with pytest.raises(ValueError, match="choices: z_score, min_max, rank"):
        linear_fusion([A, B], [1, 1], depth=None, normalization="zmuv")
    with pytest.raises(ValueError, match="k should be"):
        reciprocal_rank_fusion([A, B], k=-1, depth=None)


@pytest.mark.parametrize("weights", [[0.0, 0.0], [-0.1, 1.1], [np.nan, 1.0], [np.inf, 1.0]])
def test_bad_weights_are_refused(weights):
    with np.errstate(all="raise"), pytest.raises(ValueError, match="weights should be"):
        unit_sum(weights)


@pytest.mark.parametrize("count", [3, 7, 10, 100])
def test_the_rounding_error_of_equal_scores_is_not_blown_up(count):
    flat = Run.from_dict({"q": dict.fromkeys(range(count), 0.1)})
    with np.errstate(all="raise"):
        for name in ("z_score", "min_max"):
            assert normalize(gather([flat]), name)[0, 0] == pytest.approx(np.zeros(count), abs=1e-12)
