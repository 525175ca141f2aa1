"""Stage kvqae-rerank with ArcFace, on cosines of angles, against a loop, and where faces, images or lists are missing."""

import numpy as np
import pyarrow as pa
import pytest

from stages.kvqae.rerank import RerankParameters, main
from tests.stages.kvqae.test_image_search import write_questions
from trivium.core.engine import LocalEngine
from trivium.core.stage import Context
from trivium.core.tables import write_table
from trivium.core.tracking import Tracker
from trivium.formats.trec import read_run, write_run
from trivium.kvqae.rerankers.members.arcface import rerank as kernel
from trivium.measures.runs import Run

# Article, image, passages: 0 and 4 have faces, 1 none, 2 no image delivered, 3 no passage, 5 shares the image of 0;
# 6 has no image; 7 has a face and is not a human.
ARTICLES = [
    ("ada.jpg", 2),
    ("tower.jpg", 2),
    ("gone.jpg", 1),
    ("bob.jpg", 0),
    ("coin.jpg", 2),
    ("ada.jpg", 1),
    (None, 1),
    ("statue.jpg", 1),
]
KB = {
    "coin.jpg": (True, 50),
    "tower.jpg": (False, 0),
    "bob.jpg": (True, 0),
    "ada.jpg": (True, 20),
    "statue.jpg": (True, 30),
}
QUESTION_IMAGES = {"place.jpg": (False, 0), "face.jpg": (True, 30), "other.jpg": (True, 60)}
QUESTIONS = {"face": 1, "place": 0, "lost": -1, "other": 2}  # row of the image


def cosine(degrees):
    return np.cos(np.radians(degrees))


def write_features(folder, images):
    detected, angles = zip(*images.values(), strict=True)
    table = pa.table(
        {"name": list(images), "detected": detected, "unreadable": pa.array([None] * len(images), pa.string())}
    )
    write_table(folder / "arcface" / "pictures.parquet", table)
    vectors = 3 * np.column_stack([cosine(angles), np.sin(np.radians(angles))])
    np.save(folder / "arcface" / "vectors.npy", np.where(np.array(detected)[:, None], vectors, 0).astype(np.float16))


@pytest.fixture
def files(tmp_path):
    images, lengths = zip(*ARTICLES, strict=True)
    numbers = list(range(len(ARTICLES)))
    table = {"article": numbers, "image": images, "human": [image != "statue.jpg" for image in images]}
    write_table(tmp_path / "wiki/articles.parquet", pa.table(table))
    write_table(tmp_path / "wiki/passages.parquet", pa.table({"article": np.repeat(numbers, lengths)}))
    write_features(tmp_path / "features" / "kb", KB)
    write_features(tmp_path / "features" / "questions", QUESTION_IMAGES)
    for split in ("validation", "test"):
        routing = {
            "question": list(QUESTIONS),
            "image": list(QUESTIONS.values()),
            "face": [name in ("face", "other") for name in QUESTIONS],
        }
        write_table(tmp_path / "routing" / f"{split}.parquet", pa.table(routing))
        write_questions(tmp_path / f"{split}.jsonl", dict.fromkeys(QUESTIONS, ("any.jpg", "Q1")))
        # Passages 0 1 | 2 3 | 4 | | 5 6 | 7 | 8 | 9 of the articles 0 to 7; 1 stands before 0.
        ranked = {number: 1 - place / 10 for place, number in enumerate((5, 2, 1, 4, 7, 0, 8, 6, 3, 9))}
        write_run(tmp_path / "run" / f"{split}.trec", Run.from_dict(dict.fromkeys(("face", "place", "lost"), ranked)))
    return {
        "reranker": "arcface",
        "runs": tmp_path / "run",
        "questions": tmp_path,
        "kb": tmp_path / "wiki",
        "out": tmp_path / "reranked" / "arcface",
    }


def run_stage(files, depth=9):
    folder = files["questions"]
    settings = {"reads": [folder / "features", folder / "routing"], "depth": depth}
    context = Context(tracker=Tracker(), work=folder, engine=LocalEngine(1))
    return main(RerankParameters(settings=settings, max_tokens=8, batch=1), context, **files)


def rerank(files, depth=10):
    metrics = run_stage(files, depth)
    run = read_run(files["out"] / "test.trec")
    return metrics, {
        query: {int(d): s for d, s in zip(documents, scores, strict=True) if d >= 0}
        for query, documents, scores in zip(run.queries, run.documents, run.scores.tolist(), strict=True)
    }


def test_cosines_of_faces_and_the_initial_order_of_equal_images(files):
    metrics, found = rerank(files)
    assert list(found) == ["face"]
    # Articles 0 and 5 share an image 10° away, article 4 is 20° away; places in the initial list: 1 is third, ...
    # The statue's face is the very face asked for: it is no human's, so passage 9 is not there.
    assert list(found["face"]) == [1, 7, 0, 5, 6]
    expected = [cosine(10) - 2e-8, cosine(10) - 4e-8, cosine(10) - 5e-8, cosine(20), cosine(20) - 7e-8]
    assert list(found["face"].values()) == pytest.approx(expected, abs=1e-3)  # features are float16
    scores = found["face"]
    assert scores[1] > scores[7] > scores[0] > scores[1] - 3e-7  # one image: a 32-bit step apart
    assert metrics["test_questions"] == 4
    assert metrics["test_questions_with_face"] == 2
    assert metrics["test_questions_without_result"] == 1  # "other" has no initial list
    assert (metrics["test_passages"], metrics["test_passages_with_face"]) == (10, 5)
    assert {path.name for path in files["out"].iterdir()} == {"validation.trec", "test.trec"}


def test_a_face_without_length_is_refused():
    initial, faces = Run.from_dict({"q": {0: 2.0, 1: 1.0}}), np.array([[3.0, 4.0], [0.0, 0.0]])
    with np.errstate(invalid="ignore"), pytest.raises(ValueError, match="query 'q' has a score that is not finite"):
        kernel(initial, faces[:1], faces, np.array([0, 1]))


@pytest.mark.parametrize("depth", [1, 3, 6])
def test_only_the_best_are_reranked_and_score_as_in_a_longer_list(files, depth):
    _, whole = rerank(files)
    _, found = rerank(files, depth)
    kept = [5, 2, 1, 4, 7, 0][:depth]
    assert found["face"] == {passage: score for passage, score in whole["face"].items() if passage in kept}
    assert list(found["face"]) == [passage for passage in whole["face"] if passage in kept]


def test_agrees_with_a_loop(tmp_path):
    rng = np.random.default_rng(0)
    faces, base = rng.normal(size=(6, 8)).astype(np.float16), rng.normal(size=(20, 8)).astype(np.float16)
    image_of = rng.integers(-1, 20, 50)
    names = tuple(f"q{row}" for row in range(6))
    initial = Run(names, np.stack([rng.permutation(50)[:12] for _ in names]), np.tile(np.arange(12.0, 0, -1), (6, 1)))

    found = kernel(initial, faces, base, image_of)
    for row, face in enumerate(faces.astype(float)):
        scores = {}
        for place, passage in enumerate(initial.documents[row].tolist()):
            if image_of[passage] >= 0:
                other = base[image_of[passage]].astype(float)
                scores[passage] = face @ other / np.linalg.norm(face) / np.linalg.norm(other) - place * 1e-8
        expected = sorted(scores, key=lambda passage: -scores[passage])
        assert [passage for passage in found.documents[row].tolist() if passage >= 0] == expected
        assert found.scores[row, : len(expected)] == pytest.approx([scores[passage] for passage in expected], abs=1e-12)
    backwards = kernel(initial.select(names[::-1]), faces[::-1], base, image_of).select(names)
    np.testing.assert_array_equal(backwards.documents, found.documents)
    np.testing.assert_array_equal(backwards.scores, found.scores)
