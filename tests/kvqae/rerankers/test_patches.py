"""Matches that were planted, and pictures that tiny networks see."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import torch
import yaml
from PIL import Image

from stages.kvqae.rerank import RerankParameters, main
from tests.kvqae.tiny_encoders import write_tiny
from tests.stages.kvqae.test_image_search import write_questions
from tests.stages.kvqae.test_local_features import jpeg
from trivium.core.image_shards import write_images
from trivium.core.stage import execute
from trivium.core.tables import write_table
from trivium.formats.trec import read_run, write_run
from trivium.kvqae.rerankers.members.patches import match
from trivium.measures.runs import Run
from trivium.vision.encoder_registry import ENCODERS

SIDE = 8
QUERY = np.eye(2 * SIDE * SIDE, dtype=np.float32)[: SIDE * SIDE].reshape(SIDE, SIDE, -1)  # no two patches are alike
OTHERS = np.eye(2 * SIDE * SIDE, dtype=np.float32)[SIDE * SIDE :].reshape(SIDE, SIDE, -1)


def test_a_shift_by_hand():
    """Moved two rows down and one column to the right, 6 × 7 of the 8 × 8 patches are left."""
    target = OTHERS.copy()
    target[2:, 1:] = QUERY[:-2, :-1]
    assert match(QUERY, target) == pytest.approx(6 * 7 / 64)
    assert match(target, QUERY) == pytest.approx(6 * 7 / 64)


def test_a_turn_counts_and_a_mirror_does_not():
    assert match(QUERY, np.rot90(QUERY)) == pytest.approx(1.0)
    assert match(QUERY, QUERY[::-1]) < 0.5


def test_the_same_patches_in_disorder_are_no_match():
    order = np.random.default_rng(0).permutation(SIDE * SIDE)
    shuffled = QUERY.reshape(SIDE * SIDE, -1)[order].reshape(QUERY.shape)
    assert match(QUERY, shuffled) < 0.2


def test_weaker_patches_count_less_and_strange_ones_nothing():
    weaker = np.sqrt(0.75) * OTHERS + 0.5 * QUERY  # of length 1, with cosine 1/2
    assert match(QUERY, weaker) == pytest.approx(0.5)
    assert match(QUERY, OTHERS) == 0.0


@pytest.mark.parametrize(("name", "side"), [("dinov2", 28 // 14), ("dinov3", 32 // 16), ("siglip2", 160 // 16)])
def test_networks_have_patches_of_length_1(tmp_path: Path, name: str, side: int):
    write_tiny(name, tmp_path / name)
    encoder = ENCODERS[name].load(tmp_path / name, torch.device("cpu"))
    pictures = [Image.effect_noise((40, 40), 60).convert("RGB") for _ in range(9)]
    found = encoder.patches(pictures)
    assert found.shape[:3] == (9, side, side)
    assert np.allclose(np.linalg.norm(found, axis=-1), 1, atol=1e-5)
    assert np.allclose(encoder.patches(pictures[8:]), found[8:], atol=1e-6)
    assert encoder.patches([]).shape == (0, 0, 0, 0)


def test_the_article_with_the_same_picture_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Passages 0 and 1 are of article 0, 2 of 1, whose picture is broken, 3 of 2, whose picture the question shows."""
    monkeypatch.chdir(tmp_path)
    write_tiny("siglip2", tmp_path / "siglip2")
    write_images(tmp_path / "kb", [("a.jpg", jpeg(1)), ("b.jpg", b"<html>"), ("c.jpg", jpeg(2))])
    write_images(tmp_path / "asked", [("q.jpg", jpeg(2))])
    write_table(tmp_path / "wiki/articles.parquet", pa.table({"image": ["a.jpg", "b.jpg", "c.jpg"]}))
    write_table(tmp_path / "wiki/passages.parquet", pa.table({"article": [0, 0, 1, 2]}))
    for split in ("validation", "test"):
        (tmp_path / "questions").mkdir(exist_ok=True)
        write_questions(tmp_path / "questions" / f"{split}.jsonl", {"q1": ("q.jpg", "Q1"), "q2": ("gone.jpg", "Q2")})
        lists = {name: {1: 4.0, 0: 3.0, 2: 2.0, 3: 1.0} for name in ("q1", "q2")}
        write_run(tmp_path / "runs" / f"{split}.trec", Run.from_dict(lists))
    entry = {"reads": ["siglip2", "kb"], "encoder": "siglip2", "depth": 4}
    tree = {"kvqae": {"rerank": {"max_tokens": 8, "batch": 1}, "rerankers": {"patches": entry}}}
    Path("params.yaml").write_text(yaml.safe_dump(tree))
    arguments = {
        "reranker": "patches",
        "runs": "runs",
        "questions": "questions",
        "question-images": "asked",
        "kb": "wiki",
        "out": "out",
    }
    words = [word for name, value in arguments.items() for word in (f"--{name}", value)]
    metrics = execute(main, "kvqae.rerank", RerankParameters, words)
    run = read_run(tmp_path / "out" / "test.trec")
    assert run.queries == ("q1",)
    assert run.documents[0].tolist() == [3, 1, 0]
    assert run.scores[0, 0] == pytest.approx(1.0, abs=1e-2)
    assert run.scores[0, 1] < 0.9
    counted = {
        name: metrics[f"test_{name}"] for name in ("questions_without_image", "passages", "passages_without_image")
    }
    assert counted == {"questions_without_image": 1, "passages": 8, "passages_without_image": 1}
