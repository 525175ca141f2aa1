"""Stage kvqae-rerank_fuse: what is chosen, what it does, and that test plays no part."""

import csv
from itertools import pairwise

import pytest

from stages.kvqae import rerank_fuse
from tests.kvqae.reranked_world import write_reranked
from trivium.core.tables import read_json
from trivium.formats.trec import read_qrels, read_run
from trivium.kvqae.rerankers.fusion import Fusion, default_minimum, fuse, read_choice, systems_of
from trivium.measures.fusion import gather, linear_fusion, normalize, position_parts, position_probabilities
from trivium.measures.ranking import evaluate
from trivium.measures.runs import Run

RERANKERS = {name: {} for name in ("text", "arcface", "rrt")}  # as `kvqae.rerankers` has them
SYSTEMS = systems_of(RERANKERS)


def given(folders):
    return {"initial": folders["initial"], "reranked": folders["initial"].parent}


@pytest.fixture
def folders(tmp_path):
    return write_reranked(tmp_path / "runs")


PARAMETERS = rerank_fuse.RerankFuseParameters(rerankers=RERANKERS, step=0.1)


def tune(tmp_path, folders, step=0.1):
    """Choose and fuse; returns the numbers of the choice."""
    out = {"out_choice": tmp_path / "reranking.json", "out_tried": tmp_path / "tried.csv"}
    out |= {"out_tuned": tmp_path / "tuned.json", "out": tmp_path}
    qrels = tmp_path / "runs" / "validation_passage.qrels"
    rerank_fuse.main(PARAMETERS.model_copy(update={"step": step}), **given(folders), qrels=qrels, **out)
    return read_json(tmp_path / "tuned.json")


def write_fused(tmp_path, folders, fusions=None):
    fusions = fusions or read_choice(tmp_path / "reranking.json", SYSTEMS)
    return rerank_fuse.write_fusions(fusions, SYSTEMS, folders, tmp_path)


def runs_of(tmp_path, split, *systems):
    queries = read_qrels(tmp_path / "runs" / f"{split}_passage.qrels").queries
    return [read_run(tmp_path / "runs" / system / f"{split}.trec").complete(queries) for system in systems]


def filled(runs):
    return list(default_minimum({run.name or str(number): run for number, run in enumerate(runs)}).values())


def test_what_a_system_did_not_return_follows_at_its_minimum():
    runs = {
        "a": Run.from_dict({"q": {5: 0.9, 1: 0.2}, "r": {}}, name="a"),
        "b": Run.from_dict({"q": {3: 4.0, 5: 3.0, 2: 2.0, 1: 1.0}, "r": {7: 1.0}}, name="b"),
    }
    a, b = default_minimum(runs).values()
    assert a.documents.tolist() == [[5, 1, 2, 3], [-1, -1, -1, -1]]  # a has no list for r, and gets none
    assert a.scores[0].tolist() == [0.9, 0.2, 0.2, 0.2]
    assert b.documents.tolist() == [[3, 5, 2, 1], [7, -1, -1, -1]]
    # 1 - (r - 1) / K with K = 4 passages to order, in the order of ids 1, 2, 3, 5.
    assert normalize(gather([a, b]), "rank")[0, 0].tolist() == [1 - 1 / 4, 1 - 2 / 4, 1 - 3 / 4, 1]


def mrr(path, qrels):
    return evaluate(read_run(path).complete(qrels.queries), qrels, ["mrr"])["mrr"].mean()


def equal(*systems):
    return Fusion(method="linear", normalization="min_max", weights=dict.fromkeys(systems, 1 / len(systems)))


def equal_but(image):
    """Equal weights, but for the images."""
    return {name: equal(*systems) for name, systems in SYSTEMS.items()} | {"image": image}


def test_the_fused_runs_measure_what_was_said_of_the_choice(tmp_path, folders):
    metrics = tune(tmp_path, folders)
    qrels = read_qrels(tmp_path / "runs" / "validation_passage.qrels")
    for name in SYSTEMS:
        found = mrr(tmp_path / f"reranked_{name}" / "validation.trec", qrels)
        assert found == pytest.approx(metrics[f"{name}_mrr"], abs=1e-14)
    report = read_json(tmp_path / "reranking.json")
    for name in ("image_alone", "text_image"):
        assert metrics[f"{name}_paper_is_chosen"] == (report[name]["paper"] == report[name]["chosen"])
    assert (metrics["image_tried"], metrics["text_image_tried"]) == (1 + 3 * 11, 2 * (1 + 3 * 11))
    assert metrics["image_alone_mrr"] >= max(metrics["image_alone_paper_mrr"], metrics["image_mrr"])
    assert metrics["text_image_mrr"] >= metrics["text_image_paper_mrr"]
    assert metrics["text_image_mrr"] > metrics["image_mrr"]
    # Keeping the initial list can only help where the weights are chosen: weight 0 is among them.
    assert metrics["text_image_initial_mrr"] >= metrics["text_initial_mrr"]
    assert (metrics["text_initial_tried"], metrics["text_image_initial_tried"]) == (1 + 3 * 11, 1 + 3 * 66)


def test_every_try_is_in_the_table_and_the_best_is_chosen(tmp_path, folders):
    metrics = tune(tmp_path, folders, step=0.25)
    with (tmp_path / "tried.csv").open() as lines:
        table = list(csv.DictReader(lines))
    sizes = dict.fromkeys(("image", "image_alone", "text_image_over_posfuse", "text_image_over_linear"), 1 + 3 * 5)
    assert {name: sum(line["fusion"] == name for line in table) for name in sizes} == sizes
    qrels = read_qrels(tmp_path / "runs" / "validation_passage.qrels")
    runs = filled(runs_of(tmp_path, "validation", "arcface", "rrt"))
    for line in table:
        if (line["fusion"], line["method"]) == ("image", "linear"):
            weights = [float(line["arcface"]), float(line["rrt"])]
            fused = linear_fusion(runs, weights, depth=None, normalization=line["normalization"])
            assert float(line["mrr"]) == pytest.approx(evaluate(fused, qrels, ["mrr"])["mrr"].mean(), abs=1e-14)
            assert line["text"] == ""
    best_of = {name: max(float(line["mrr"]) for line in table if line["fusion"] == name) for name in sizes}
    over = {method: best_of[f"text_image_over_{method}"] for method in ("posfuse", "linear")}
    assert metrics["text_image_mrr"] == max(over.values())
    report = read_json(tmp_path / "reranking.json")
    assert report["image"]["chosen"]["method"] == max(over, key=over.get)
    paper = report["text_image"]["paper"]
    assert (paper["method"], paper["normalization"]) == ("linear", "min_max")
    published = [
        float(line["mrr"])
        for line in table
        if (line["fusion"], line["normalization"]) == ("text_image_over_posfuse", "min_max")
    ]
    assert metrics["text_image_paper_mrr"] == max(published)


def test_posfuse_is_the_papers_choice_for_images(tmp_path, folders):
    tune(tmp_path, folders)
    paper = read_json(tmp_path / "reranking.json")["image_alone"]["paper"]
    qrels = read_qrels(tmp_path / "runs" / "validation_passage.qrels")
    runs = filled(runs_of(tmp_path, "validation", "arcface", "rrt"))
    learned = [position_probabilities(run, qrels) for run in runs]
    assert paper["method"] == "posfuse"
    assert paper["probabilities"] == {"arcface": learned[0].tolist(), "rrt": learned[1].tolist()}

    write_fused(tmp_path, folders, equal_but(Fusion(**paper)))
    test = filled(runs_of(tmp_path, "test", "arcface", "rrt"))
    fused = read_run(tmp_path / "reranked_image" / "test.trec").select(test[0].queries)
    expected = gather(test)
    by_position = position_parts(expected, learned).sum(axis=0)
    for row, documents in enumerate(expected.documents):
        if row % 2:  # no face: RRT alone, its order whatever was learned
            assert fused.documents[row].tolist() == test[1].documents[row].tolist()
            continue
        scores = dict(zip(documents.tolist(), by_position[row].tolist(), strict=True))
        found = fused.documents[row].tolist()
        assert fused.scores[row] == pytest.approx([scores[document] for document in found], abs=3e-6)
        for one, other in pairwise(found):  # equal probability: the better ranks first
            ranks = [sum(run.documents[row].tolist().index(each) for run in test if each in run.documents[row])
                     for each in (one, other)]  # fmt: skip
            assert scores[one] > scores[other] - 1e-12
            assert scores[one] > scores[other] + 1e-12 or ranks[0] <= ranks[1]
    both = read_run(tmp_path / "reranked_text_image" / "test.trec").select(fused.queries)
    text = runs_of(tmp_path, "test", "text")[0]
    by_hand = linear_fusion([text, fused], [0.5, 0.5], depth=None, normalization="min_max")
    assert both.documents.tolist() == by_hand.documents.tolist()


def test_judgements_and_lists_of_test_change_nothing_that_is_chosen(tmp_path, folders):
    tune(tmp_path, folders)
    before = (tmp_path / "reranking.json").read_bytes()
    validation = (tmp_path / "reranked_text_image" / "validation.trec").read_bytes()
    write_reranked(tmp_path / "runs", seed=9, splits=("test",))
    tune(tmp_path, folders)
    assert (tmp_path / "reranking.json").read_bytes() == before
    assert (tmp_path / "reranked_text_image" / "validation.trec").read_bytes() == validation


def test_positions_ranks_and_min_max_fuse_a_question_by_itself(tmp_path, folders):
    tune(tmp_path, folders)
    paper = Fusion(**read_json(tmp_path / "reranking.json")["image_alone"]["paper"])
    weights = {"arcface": 0.7, "rrt": 0.3}
    faces, whole = runs_of(tmp_path, "test", "arcface", "rrt")
    some = faces.queries[3:5]
    for fusion in (
        paper,
        *(Fusion(method="linear", normalization=name, weights=weights) for name in ("rank", "min_max")),
    ):
        together = fuse(fusion, {"arcface": faces, "rrt": whole}).select(some)
        apart = fuse(fusion, {"arcface": faces.select(some), "rrt": whole.select(some)})
        assert apart.documents.tolist() == together.documents.tolist()
        assert apart.scores.tolist() == together.scores.tolist()
