"""The board against figures worked out by hand and by the graph's own stages, its ranks, and models that fail."""

import dataclasses
import shutil
from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.decorrelation.benchmark.benchmark_project import RETRIEVE, Words, release
from tests.decorrelation.tiny_models import CAPTIONS, SETTINGS, write_base
from trivium.core.engine import LocalEngine
from trivium.core.errors import BadInput
from trivium.decorrelation.benchmark.answers import MEASURES, PAIRS, TESTED, answer, score
from trivium.decorrelation.benchmark.embeddings import SetVectors
from trivium.decorrelation.benchmark.family import FAMILIES, find_model
from trivium.decorrelation.benchmark.leaderboard import UNKNOWN, known_training, odmap, rank
from trivium.decorrelation.evaluation.answers import read_answers, read_data_set
from trivium.decorrelation.evaluation.tables import cell_metrics
from trivium.decorrelation.models.interface import start
from trivium.decorrelation.retrieval.ranking import RetrieveParameters, ask
from trivium.formats.picture_corpora import read_corpus

DATA = "data/decorrelation"


@pytest.fixture(scope="module")
def simple(asked):
    """The same with captions that name one class each, twelve captions a class: every query has right and wrong ones."""
    used = np.flatnonzero((asked.queries.removed | asked.queries.present).any(axis=0))
    names = np.zeros_like(asked.gallery.names)
    names[np.arange(len(names)), used[np.arange(len(names)) % len(used)]] = True
    assert names.sum(axis=0).max() == 12
    return replace(asked, gallery=replace(asked.gallery, names=names))


def pointing_at(asked, choose):
    """Vectors by which query q finds first the captions that `choose` gives for it, in this order, then others."""
    count = len(asked.captions.ids)
    captions = np.eye(count, dtype=np.float32)
    painted = np.full((len(asked.queries.ids), count), 0.001, np.float32)
    for row in range(len(painted)):
        for place, caption in enumerate(choose(row)):
            painted[row, caption] = 1 - place / 100
    test = np.flatnonzero(asked.captions.test)
    pictures = np.zeros((len(asked.pictures.owners), count), np.float32)
    for row, owner in enumerate(asked.pictures.owners):
        pictures[row, test[asked.captions.pictures[test] == owner]] = 1
    return SetVectors(pictures, painted, captions, np.zeros((len(asked.pairs.texts), count), np.float32))


def scored(asked, vectors):
    return score(asked, answer(asked, vectors))


def right_and_wrong(asked, row):
    names = asked.gallery.names
    gone = (names & asked.queries.removed[row]).any(axis=1)
    left = (names & asked.queries.present[row]).any(axis=1)
    return np.flatnonzero(left & ~gone), np.flatnonzero(gone)


def test_figures_of_rankings_made_by_hand(simple):
    asked = simple

    def choose(row):  # right, wrong, right, and wrong from there
        right, wrong = right_and_wrong(asked, row)
        return [right[0], wrong[0], right[1], *wrong[1:8]]

    found = scored(asked, pointing_at(asked, choose))
    assert found.mean("odmap@1") == 1
    assert found.mean("odmap@5") == pytest.approx((1 + 2 / 3) / 5)
    assert found.mean("odmap@10") == pytest.approx((1 + 2 / 3) / 10)
    assert found.mean("still_named") == 0
    assert found.mean("image_to_text_r@1") == 1
    assert found.mean("text_to_image_r@1") == 1
    assert found.intervals["odmap@1"] == (1, 1)

    guesses = scored(asked, pointing_at(asked, lambda row: right_and_wrong(asked, row)[1][:10]))
    assert guesses.mean("odmap@10") == 0
    assert guesses.mean("still_named") == 1


@pytest.mark.parametrize("kind", ["clip", "vse", "vse_scratch", "blip"])
def test_a_model_gets_the_graphs_own_figures(kind, project, tmp_path):
    """Every kind of the graph, asked and judged by its stages, and by the leaderboard."""
    torch.manual_seed(0)
    base = write_base(kind.removesuffix("_frozen"), tmp_path / "base")
    folder = tmp_path / kind
    start(kind, base, SETTINGS[kind], CAPTIONS).save(folder)
    data = project / DATA
    settings = RetrieveParameters(**RETRIEVE)
    ask(
        settings,
        candidates=settings.candidates["coco"], model=folder, raw=data / "raw/coco", removals=data / "removals/coco",
        painted=data / "painted/coco/cv2", engine=LocalEngine(1), work=tmp_path / "work", out=tmp_path / "retrieved",
    )  # fmt: skip
    questions = read_data_set(read_corpus(data / "raw/coco"), data / "phrases/coco.parquet", data / "removals/coco", {})
    graph = cell_metrics("cell", read_answers(tmp_path / "retrieved", questions))
    board = odmap([str(folder), f"again=graph:{folder}"], project)
    assert [row.source for row in board.rows] == [f"graph:{kind}"] * 2
    names = {"still_named": "synthetic_removed_named"} | {f"odmap@{k}": f"synthetic_odmap@{k}" for k in (1, 5, 10)}
    for measure in set(MEASURES) - {TESTED, *PAIRS}:
        for row in board.rows:
            assert row.scores.mean(measure) == graph[f"cell_{names.get(measure, measure)}"], measure


@pytest.mark.parametrize("config", ['{"kind": "other"}', '{"kind": "vse", "architecture": "vgg"}'])
def test_a_model_that_cannot_be_loaded_costs_its_own_row_only(config, project, tmp_path):
    folder = tmp_path / "broken"
    folder.mkdir()
    (folder / "config.json").write_text(config)
    told = []
    board = odmap({"words": Words(), "its": str(folder)}, project, report=told.append)
    assert [row.model for row in board.rows] == ["words"]
    assert list(board.failed) == ["its"]
    assert str(folder) in board.failed["its"]
    assert f"its cannot be asked: {board.failed['its']}" in told
    with pytest.raises(BadInput, match=rf"no model could be asked\n  broken: .*{folder}"):
        odmap([str(folder)], project)


def test_ranks_by_both_measures_and_how_far_behind(simple):
    asked = simple

    def mixed(row):
        right, wrong = right_and_wrong(asked, row)
        return [*(right[:1] if row % 2 else wrong[:1]), *wrong[1:9], right[1]]

    looks = pointing_at(asked, lambda row: right_and_wrong(asked, row)[0])
    looks = replace(looks, pictures=np.roll(looks.pictures, 7, axis=1))  # and retrieves nothing
    vectors = {
        "repeats": pointing_at(asked, lambda row: right_and_wrong(asked, row)[1]),
        "looks": looks,
        "half": pointing_at(asked, mixed),
    }
    scores = {name: scored(asked, each) for name, each in vectors.items()}
    rows = rank(asked, scores, dict.fromkeys(scores, Words()))
    assert [(row.model, row.odmap_rank, row.recall_rank) for row in rows] == [
        ("looks", 1, 3), ("half", 2, 1), ("repeats", 3, 1),
    ]  # fmt: skip
    assert [row.looks for row in rows] == [
        2,
        0,
        -2,
    ]  # half leads the last, which it does not lead by R@1, and not the first
    assert rows[0].behind is None
    assert rows[1].behind[0] == pytest.approx(1 - scores["half"].mean("odmap@1"))
    assert rows[2].behind == (1, (1, 1))


def test_equal_models_share_their_ranks_in_the_order_given(project):
    board = odmap({"b": Words(), "a": Words()}, project)
    assert [(row.model, row.odmap_rank, row.recall_rank) for row in board.rows] == [("b", 1, 1), ("a", 1, 1)]
    assert board.rows[1].behind == (0, (0, 0))
    assert board.rows[0].source == "Python: Words"


def test_the_order_of_pictures_on_disk_changes_no_figure(project, tmp_path):
    from tests.decorrelation.benchmark.test_benchmark_set import rewrite

    other = shutil.copytree(project, tmp_path / "project")
    for part in ("raw/coco/images", "painted/coco/cv2/test"):
        rewrite(other / DATA / part, lambda images: images[::-1])
    release(other)
    first, second = (odmap({"m": Words()}, each, batch_size=size).rows[0] for each, size in ((project, 64), (other, 2)))
    for name in MEASURES:
        assert first.scores.mean(name) == pytest.approx(second.scores.mean(name), abs=1e-12), name
    assert first.scores.intervals == second.scores.intervals


def test_a_library_that_fails_costs_nobody_else_and_an_own_object_is_heard(project, tmp_path, monkeypatch):
    class Failing(Words):
        def encode_images(self, images):
            raise RuntimeError("of its library")

    folder = write_base("clip", tmp_path / "clip")
    failing = dataclasses.replace(FAMILIES["open_clip"], load=lambda where: Failing())
    monkeypatch.setitem(FAMILIES, "open_clip", failing)
    board = odmap({"words": Words(), "clip": str(folder)}, project)
    assert [row.model for row in board.rows] == ["words"]
    assert board.failed == {"clip": "RuntimeError: of its library"}
    with pytest.raises(RuntimeError, match="of its library"):
        odmap({"words": Words(), "mine": Failing()}, project)


@pytest.mark.parametrize(
    ("models", "message"),
    [
        ([], "no model"),
        (
            ["nowhere"],
            r"no such folder, and no kind of model; got 'nowhere'.*\(choices: graph:, hf:, npy:, open_clip:, sent",
        ),
        (
            ["clip:x"],
            r"no such folder, and no kind of model; got 'clip:x'.*\(choices: graph:, hf:, npy:, open_clip:, sent",
        ),
        (["open_clip:ViT-B-32/openai"] * 2, "two models of one name; got 'open_clip:ViT-B-32/openai'"),
    ],
)
def test_models_that_nobody_knows_are_refused_before_anything_is_read(models, message, tmp_path):
    with pytest.raises(BadInput, match=message):
        odmap(models, tmp_path)


def test_an_unknown_folder_says_what_would_be_known(tmp_path):
    with pytest.raises(BadInput, match=r"without a model of any kind; expected one of open_clip_config.json, modul"):
        find_model(str(tmp_path))
    with pytest.raises(BadInput, match=r"config.json: no such file"):
        find_model(f"graph:{tmp_path}")


def test_random_order_is_the_graphs_expectation(asked, project):
    board = odmap({"m": Words()}, project)
    right = [len(right_and_wrong(asked, row)[0]) / 60 for row in range(len(asked.queries.ids))]
    assert board.chance["odmap@1"] == pytest.approx(np.mean(right))


@pytest.mark.parametrize(
    ("model", "dataset", "said"),
    [
        ("hf:Salesforce/blip-itm-base-coco", "coco", ["Fine-tuned on COCO", "Pretrained on COCO and Visual Genome"]),
        ("open_clip:coca_ViT-B-32/mscoco_finetuned_laion2b_s13b_b90k", "coco", ["Fine-tuned on COCO"]),
        ("open_clip:ViT-B-32/datacomp_xl_s13b_b90k", "flickr30k", ["near duplicates"]),
        ("hf:my_clip", "coco", [UNKNOWN]),
    ],
)
def test_what_is_known_of_training_sets(model, dataset, said):
    found = known_training(model, dataset)
    assert len(found) == len(said)
    assert all(part in note for part, note in zip(said, found, strict=True))


def test_notes_stand_for_public_pictures_only(project, tmp_path):
    assert odmap({"m": Words()}, project).rows[0].notes == ()
    other = shutil.copytree(project, tmp_path / "project")
    text = (other / "params.yaml").read_text().replace("coco: sample", "coco: hub")
    (other / "params.yaml").write_text(text)
    release(other)
    assert odmap({"m": Words()}, other).rows[0].notes == (UNKNOWN,)
