"""How what the fused images gave is told apart, and RRT left out; all re-rankers at work are in end_to_end/test_ask.py."""

from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
import torch

from tests.stages.kvqae.test_local_features import jpeg
from trivium.core.image_shards import Images, write_images
from trivium.core.tables import write_json
from trivium.formats.trec import write_run
from trivium.kvqae.asking import graph
from trivium.kvqae.asking.answer import QUERY, PictureView
from trivium.kvqae.asking.graph import WITHOUT_RRT, Rerankers
from trivium.kvqae.rerankers.fusion import Fusion, systems_of
from trivium.kvqae.rerankers.model_files import leave_out
from trivium.kvqae.rerankers.rrt import build_rrt, rerank
from trivium.measures.runs import Run
from trivium.vision.local_descriptors.extractors import SiftExtractor, load_extractor

NAMES = ("text", "arcface", "rrt")


@pytest.fixture
def without_rrt(tmp_path, monkeypatch):
    """Re-rankers of a project without RRT, whose cross-encoder keeps the order; passage p shows the face (cos p, sin p)."""
    leave_out(tmp_path / "models/kvqae/rrt")
    write_json(tmp_path / "models/kvqae/rrt/extractor/extractor.json", {"kind": "none"})
    fusions = {
        name: Fusion(
            method="linear", normalization="min_max", weights={each: 1 / 2 for each in systems if each != "rrt"}
        )
        for name, systems in systems_of(NAMES).items()
    }
    choice = {name: {"chosen": fusion.model_dump()} for name, fusion in fusions.items()}
    write_json(tmp_path / "data/kvqae/tuning/reranking.json", choice)
    for system in ("text", "arcface", "image"):
        run = Run.from_dict({"q": {0: 0.5, 1: 0.25}}, name=system)
        folder = "reranked_image" if system == "image" else f"reranked/{system}"
        write_run(tmp_path / f"data/kvqae/runs/{folder}/test.trec", run)
    (tmp_path / "data/kvqae/runs/reranked/rrt").mkdir()
    (tmp_path / "data/kvqae/runs/reranked/rrt/test.trec").write_text("")
    angles = np.arange(4.0)
    faces = SimpleNamespace(matrix=lambda name: np.stack([np.cos(angles), np.sin(angles)], axis=1))
    monkeypatch.setattr(graph.cross_encoder, "load_cross_encoder", lambda *_: (torch.nn.Linear(1, 1), None))
    monkeypatch.setattr(graph.arcface, "face_images", lambda *paths: (faces, np.arange(4)))
    monkeypatch.setattr(graph.cross_encoder, "rerank_run", lambda asked, run, score: run)
    entries = {name: {"reads": ["a", "b"], "depth": 4, **({"batch": 1} if name == "rrt" else {})} for name in NAMES}
    values = {"kvqae.rerankers": entries, "kvqae.texts.pair_tokens": 8, "kvqae.texts.pair_batch": 1}
    project = SimpleNamespace(require=lambda path: tmp_path / path, value=values.get)
    return Rerankers(project, SimpleNamespace(kb=tmp_path / "data/kvqae/kb"))


def test_without_rrt_a_face_re_ranks_and_another_picture_does_not(without_rrt):
    assert without_rrt.note == WITHOUT_RRT
    initial = Run.from_dict({QUERY: {3: 4.0, 2: 3.0, 1: 2.0, 0: 1.0}})
    face = PictureView(image=b"", vector=np.array([[1.0, 0.0]]))
    fused = without_rrt.rerank("Who?", face, initial, None)
    # By min-max the text gives 0, 1/3, 2/3, 1 to passages 0 to 3, and the face 1, 0.77, 0.29, 0.
    assert fused.run.documents[0].tolist() == [1, 0, 3, 2]
    assert fused.contributions(0) == {"reranked_text": 0.0, "reranked_image": 0.5}
    assert fused.contributions(3) == {"reranked_text": 0.5, "reranked_image": 0.0}
    fused = without_rrt.rerank("Which?", PictureView(image=b""), initial, None)
    assert fused.run.documents[0].tolist() == [3, 2, 1, 0]
    assert fused.contributions(3) == {"reranked_text": 0.5, "reranked_image": 0.0}


PICTURES = {f"{name}.jpg": jpeg(seed) for seed, name in enumerate("abcdef")} | {"page.jpg": b"<html>"}
IMAGE_OF = pa.chunked_array([["a.jpg", "page.jpg", None], ["b.jpg", "gone.jpg", "c.jpg", "a.jpg", "f.jpg"]])


def test_pictures_are_described_now_and_compared_as_in_the_stage(tmp_path):
    """Passage p is of article p; the stage has described all pictures beforehand."""
    made = object.__new__(Rerankers)
    made.note, made._most, made._settings = "", 5, {"rrt": SimpleNamespace(depth=7, batch=2)}
    write_json(tmp_path / "extractor" / "extractor.json", {"kind": "sift"})
    limits = {"max_side": 256, "max_pixels": 10_000_000}
    made._dimension, made._extract = load_extractor(tmp_path / "extractor", most=5, files=None, **limits)
    write_images(tmp_path / "images", PICTURES.items())
    made._images, made._image_of, made._article_of = Images(tmp_path / "images"), IMAGE_OF, np.arange(len(IMAGE_OF))
    torch.manual_seed(0)
    made._rrt = build_rrt(global_dimension=SiftExtractor.global_dimension, layers=1, heads=4, hidden=16).eval()
    initial = Run.from_dict({QUERY: {passage: 9.0 - passage for passage in range(len(IMAGE_OF))}})
    found = made._by_picture(PictureView(image=jpeg(9)), initial)
    query, features = made._describe({"q": jpeg(9)}), made._describe(PICTURES)
    expected, _ = rerank(initial.first(7), np.array([0]), features.rows(IMAGE_OF), query, features, made._rrt, batch=2)
    assert sorted(found.documents[0][found.documents[0] >= 0].tolist()) == [0, 3, 5, 6]  # 7 is below the depth
    assert (found.documents == expected.documents).all()
    assert np.allclose(found.scores, expected.scores, rtol=0, atol=1e-5, equal_nan=True)
