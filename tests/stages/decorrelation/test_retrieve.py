"""Retrieval: against a plain loop, whatever the batches, with ties, in two stages, resumed, and its files."""

from functools import partial

import numpy as np
import pytest
import torch

from stages.decorrelation import retrieve
from tests.decorrelation.retrieved_world import cell
from tests.decorrelation.tiny_retrieval import TinyModel, write_world
from trivium.core.engine import LocalEngine
from trivium.core.errors import BadInput
from trivium.core.image_shards import Images
from trivium.core.stage import Context
from trivium.core.tables import read_table, write_json
from trivium.core.tracking import Tracker
from trivium.decorrelation.models.kinds.clip import Clip
from trivium.decorrelation.retrieval import ranking, sharded_model
from trivium.decorrelation.retrieval.ranking import (
    RetrieveParameters,
    match_captions,
    match_pictures,
    ranks_in_two_stages,
)
from trivium.decorrelation.retrieval.sharded_model import (
    PictureSet,
    ShardedModel,
    captions_of,
    encode_captions,
    encode_pictures,
    load_once,
    scaled_pictures,
)
from trivium.formats.picture_corpora import read_corpus


class Matching(TinyModel):
    """With a second stage: a text's length in letters, less what is brightest in the picture."""

    def match(self, pixels, texts):
        return [
            np.array([len(text) - float(each.max()) for text in own]) for each, own in zip(pixels, texts, strict=True)
        ]


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return write_world(tmp_path_factory.mktemp("world"))


def register(monkeypatch, kind):
    """Let this class stand in for CLIP."""
    monkeypatch.setattr(Clip, "network", (kind.__module__, kind.__name__))


@pytest.fixture(autouse=True)
def tiny_is_clip(monkeypatch):
    register(monkeypatch, TinyModel)
    yield
    load_once.cache_clear()


def parameters(**changes):
    values = {"depth": 4, "picture_batch": 3, "caption_batch": 8, "threads": None, "candidates": {"coco": 6}}
    return RetrieveParameters.model_validate(values | changes)


def ask(world, out, own=None, **changes):
    own = own or parameters()
    places = {"model": world / "base" / "tiny", "raw": world / "raw", "removals": world / "removals"}
    places |= {"painted": world / "painted", "engine": LocalEngine(1)}
    places |= {"work": out.parent / f"work_{out.name}", "out": out}
    return ranking.ask(own, candidates=own.candidates["coco"], **(places | changes))


@pytest.fixture(scope="module")
def model(world):
    model = TinyModel.load(world / "base" / "tiny")
    model.module.eval()
    return model


def test_files_against_a_plain_loop(world, model, tmp_path):
    metrics = ask(world, tmp_path / "out")
    assert metrics["captions"] == 60
    assert [metrics[f"{name}_queries"] for name in ("original", "synthetic", "empty", "rendered")] == [4, 9, 4, 4]
    assert metrics["rendered_without_removal"] == 0
    corpus = read_corpus(world / "raw")
    captions = captions_of(corpus)
    texts = encode_captions(model, captions.texts, 60).astype(np.float64)
    for name, folder in (("synthetic", world / "painted" / "test"), ("empty", world / "painted" / "empty")):
        table = read_table(tmp_path / "out" / f"{name}.parquet")
        images = encode_pictures(model, Images(folder), queries := table["query"].to_pylist(), 60)
        assert sorted(queries) == sorted(Images(folder).names)
        for row, image in zip(table.to_pylist(), images, strict=True):
            scores = (texts @ image).astype(np.float32)
            best = sorted(range(60), key=lambda place: (-scores[place], captions.ids[place]))[:4]
            assert row["captions"] == captions.ids[best].tolist()
            assert row["scores"] == pytest.approx(scores[best].tolist(), abs=1e-6)
    original = read_table(tmp_path / "out" / "original.parquet")
    assert original["query"].to_pylist() == ["8", "9", "10", "11"]
    images = encode_pictures(model, Images(world / "raw" / "images"), [each.name for each in corpus.pictures[8:]], 9)
    scores = (images.astype(np.float64) @ texts[40:].T).astype(np.float32)
    for name, matrix, owners, items in (
        ("image_to_text", scores, range(8, 12), captions.pictures[40:]),
        ("text_to_image", scores.T, captions.pictures[40:], np.arange(8, 12)),
    ):
        ranks = [
            1 + sum(value >= row[items == owner].max() for value in row[items != owner])
            for row, owner in zip(matrix, owners, strict=True)
        ]
        table = read_table(tmp_path / "out" / f"{name}.parquet")
        assert table["rank"].to_pylist() == ranks
        assert metrics[f"{name}_r@1"] == np.mean([rank == 1 for rank in ranks])
    assert table["query"].to_pylist() == captions.ids[40:].tolist()
    assert read_table(tmp_path / "out" / "empty_image_to_text.parquet")["query"].to_pylist() == [8, 9, 10, 11]


def test_batches_and_chunks_change_nothing(world, tmp_path, monkeypatch):
    ask(world, tmp_path / "one")
    monkeypatch.setattr(sharded_model, "_CHUNK", 7)
    ask(world, tmp_path / "two", parameters(picture_batch=1, caption_batch=5))
    for file in (tmp_path / "one").iterdir():
        one, two = (read_table(tmp_path / which / file.name).to_pydict() for which in ("one", "two"))
        assert np.allclose(one.pop("scores", []), two.pop("scores", []), atol=1e-6)
        assert one == two, file.name


def sharded(world, work, batch):
    return ShardedModel(world / "base" / "tiny", batch, batch, LocalEngine(1), work)


def test_equal_sentences_tie_and_the_lower_id_comes_first(world, model, tmp_path):
    texts = ["a dog", "a cat", "a dog", "a dog on grass", "a cat"]
    matrix = sharded(world, tmp_path, 2).encode_texts(texts)
    assert np.array_equal(matrix[0], matrix[2])
    assert np.array_equal(matrix[1], matrix[4])
    assert np.allclose(matrix, encode_captions(model, texts, 5), atol=1e-6)


def first_stage(rows, scores):
    return np.array(scores, np.float32), np.array(rows, np.int64)


def longer_is_better(texts):
    """Of picture n: a text's length in letters, less n."""
    return [np.array([len(text) - number for text in own], np.float32) for number, own in enumerate(texts)]


def test_candidate_captions_are_scored_again():
    first = first_stage([[1, 2, 3], [0, 3, 2]], [[0.9, 0.5, 0.5], [0.1, 0.0, 0.0]])
    scores, rows = match_captions(longer_is_better, ["aaaa", "b", "cc", "dd"], first)
    assert rows.tolist() == [[2, 3, 1], [0, 2, 3]]
    assert scores == pytest.approx(np.array([[2.5, 2.5, 1.9], [3.1, 1.0, 1.0]]), abs=1e-6)


def test_candidate_pictures_are_scored_again():
    first = first_stage([[0, 2], [1, 0]], [[0.5, 0.4], [0.9, 0.1]])
    scores, rows = match_pictures(longer_is_better, 3, ["aaa", "b"], first)
    assert rows.tolist() == [[0, 2], [1, 0]]
    assert scores == pytest.approx(np.array([[3.5, 1.4], [0.9, 1.1]]), abs=1e-6)


@pytest.mark.parametrize("batch", [1, 2, 5])
def test_pictures_are_matched_with_their_own_texts_whatever_the_batch(world, tmp_path, monkeypatch, batch):
    register(monkeypatch, Matching)
    folder, names = world / "painted" / "empty", ["9_empty", "8_empty", "11_empty"]
    asked = sharded(world, tmp_path, batch)
    pictures = asked.encode_pictures(PictureSet("empty", folder, tuple(names), tuple(names), (9, 8, 11)))
    texts = [["aa", "b"], [], ["cccc"]]
    found = pictures.match("some", texts)
    shown = scaled_pictures(Matching(), [(name, Images(folder).read(name)) for name in names], folder)
    expected = Matching().match(Matching().prepare.standardised(torch.from_numpy(np.stack(shown))), texts)
    assert [each.tolist() for each in found] == [each.tolist() for each in expected]


def test_ranks_in_two_stages():
    owners, items = np.array([5, 6, 7]), np.array([5, 6, 7, 5])
    matched = first_stage([[0, 1], [1, 2], [0, 1]], [[1.0, 2.0], [1.0, 1.0], [3.0, 2.0]])
    # The first is behind one other, the second after its equal, the third is no candidate.
    assert ranks_in_two_stages(np.array([1, 1, 4]), matched, owners, items).tolist() == [2, 2, 4]


def test_the_stage_in_two_stages(world, tmp_path, monkeypatch):
    register(monkeypatch, Matching)
    ask(world, tmp_path / "out", parameters(candidates={"coco": 60}))
    captions = captions_of(read_corpus(world / "raw"))
    longest = max(map(len, captions.texts))
    texts = dict(zip(captions.ids.tolist(), captions.texts, strict=True))
    for row in read_table(tmp_path / "out" / "synthetic.parquet").to_pylist():
        assert len(texts[row["captions"][0]]) == longest
        assert row["scores"] == sorted(row["scores"], reverse=True)
    ask(world, tmp_path / "all", parameters(candidates={"coco": 1000}))  # more than there are: all of them
    for name in ("synthetic", "text_to_image"):
        tables = [read_table(tmp_path / folder / f"{name}.parquet") for folder in ("out", "all")]
        assert tables[0].equals(tables[1])
    with pytest.raises(BadInput, match="fewer candidates than captions"):
        ask(world, tmp_path / "few", parameters(candidates={"coco": 3}))


CELLS = ("coco_clip_finetune_0", "coco_clip_ours_0")


def stage(world, tmp_path, own=None):
    """The stage on two cells of one data set."""
    inputs = tmp_path / "inputs"
    links = {"raw/coco": "raw", "removals/coco": "removals", "painted/coco/cv2": "painted"}
    for link, folder in (links | {f"models/{name}": "base/tiny" for name in CELLS}).items():
        (inputs / link).parent.mkdir(parents=True, exist_ok=True)
        if not (inputs / link).exists():
            (inputs / link).symlink_to(world / folder)
    (tmp_path / "work").mkdir(exist_ok=True)
    cells = {name: cell("coco", "clip", name.split("_")[2]) for name in CELLS}
    write_json(inputs / "params.yaml", {"decorrelation": {"cells": cells}})  # JSON is YAML
    context = Context(tracker=Tracker(), work=tmp_path / "work", engine=LocalEngine(1))
    places = {name: inputs / name for name in ("models", "raw", "removals", "painted")}
    return retrieve.main(own or parameters(), context, used=inputs / "params.yaml", out=tmp_path / "out", **places)


def same(one, two):
    return all(read_table(one / file.name) == read_table(file) for file in two.iterdir())


def test_the_stage_asks_every_model(world, tmp_path):
    alone = ask(world, tmp_path / "alone")
    assert stage(world, tmp_path) == {f"{name}_{what}": value for name in CELLS for what, value in alone.items()}
    assert sorted(folder.name for folder in (tmp_path / "out").iterdir()) == sorted(CELLS)
    for name in CELLS:
        files = sorted(file.name for file in (tmp_path / "alone").iterdir())
        assert sorted(file.name for file in (tmp_path / "out" / name).iterdir()) == files
        assert same(tmp_path / "out" / name, tmp_path / "alone")


def test_a_killed_stage_asks_only_for_the_shards_that_it_lacks(world, tmp_path, monkeypatch):
    register(monkeypatch, Matching)
    ask(world, tmp_path / "alone")
    written, killed = [], []

    def counting(write, path):
        if len(written) == 16 and not killed:
            killed.append(path)
            raise KeyboardInterrupt
        written.append(path.name)
        return write(path)

    for name in ("write_atomically", "write_folder"):
        monkeypatch.setattr(sharded_model, name, partial(counting, getattr(sharded_model, name)))
    with pytest.raises(KeyboardInterrupt):
        stage(world, tmp_path)
    stage(world, tmp_path)
    assert len(written) == 2 * (1 + 9 + 9 + 6)  # captions, batches, these matched for lists and ranks, of both cells
    assert all(same(tmp_path / "out" / name, tmp_path / "alone") for name in CELLS)


def test_a_corpus_without_test_pictures_is_refused(tmp_path):
    with pytest.raises(BadInput, match="no test picture"):
        ranking.picture_sets([], tmp_path, tmp_path, tmp_path)
