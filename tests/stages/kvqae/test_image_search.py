import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import yaml

from stages.kvqae.image_search import main
from trivium.core.stage import execute
from trivium.core.tables import read_table, write_table
from trivium.formats.trec import read_run
from trivium.kvqae.retrieval.image_search import ImageSearchParameters, articles_of, passages_of

ENCODERS: dict[str, dict[str, str]] = {"arcface": {}, "imagenet": {}, "clip": {}}
# Knowledge base: article, image, human, passages. Articles 4 and 5 share an image; 9 has none.
ARTICLES = [
    ("ada.jpg", True, 2),
    ("bob.jpg", True, 1),
    ("cleo.jpg", True, 1),  # no face found
    ("tower.jpg", False, 3),
    ("flag.png", False, 2),
    ("flag.png", False, 2),
    ("ship.jpg", False, 0),  # an article without text
    ("gone.jpg", False, 1),  # the image was not delivered
    ("torn.jpg", False, 1),  # unreadable
    (None, False, 4),
]
# name: (face, unreadable, angle of its embedding in degrees). The cosine of two images is that of the difference.
KB_IMAGES = {
    "tower.jpg": (False, None, 10),
    "ada.jpg": (True, None, 60),
    "bob.jpg": (True, None, 0),
    "cleo.jpg": (False, None, 0),
    "flag.png": (True, None, 50),  # a portrait on a coin: no human, so never searched by face
    "ship.jpg": (False, None, 0),
    "torn.jpg": (False, "corrupt", 0),
}
QUESTION_IMAGES = {
    "a_face.jpg": (True, None, 20),
    "a_place.jpg": (False, None, 30),
    "torn.jpg": (False, "not_an_image", 0),
}
QUESTIONS = {  # id: (image, entity)
    "face": ("a_face.jpg", "Q0"),
    "place": ("a_place.jpg", "Q3"),
    "broken": ("torn.jpg", "Q1"),
    "missing": ("nowhere.jpg", "Q77"),
}


def cosine(degrees: float) -> float:
    return float(np.cos(np.radians(degrees)))


def write_features(folder: Path, images: dict[str, tuple[bool, str | None, float]]) -> None:
    detected, unreadable, angles = zip(*images.values(), strict=True)
    table = pa.table({"name": list(images), "detected": detected, "unreadable": pa.array(unreadable, pa.string())})
    write_table(folder / "arcface" / "pictures.parquet", table)
    vectors = np.column_stack([np.cos(np.radians(angles)), np.sin(np.radians(angles))]).astype(np.float16)
    vectors[[reason is not None for reason in unreadable]] = 0
    for encoder in ("imagenet", "clip"):
        (folder / encoder).mkdir(exist_ok=True)
    np.save(folder / "imagenet" / "vectors.npy", vectors)
    np.save(folder / "clip" / "vectors.npy", vectors[:, ::-1])  # mirrored: the same cosines
    np.save(folder / "arcface" / "vectors.npy", np.where(np.array(detected)[:, None], vectors, 0).astype(np.float16))


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    images, humans, lengths = zip(*ARTICLES, strict=True)
    numbers = range(len(ARTICLES))
    columns = {"article": list(numbers), "image": images, "human": humans, "wikidata_id": [f"Q{i}" for i in numbers]}
    write_table(tmp_path / "wiki/articles.parquet", pa.table(columns))
    owners = np.repeat(np.arange(len(ARTICLES)), lengths)
    write_table(tmp_path / "wiki/passages.parquet", pa.table({"article": owners}))
    write_features(tmp_path / "kb", KB_IMAGES)
    write_features(tmp_path / "questions", QUESTION_IMAGES)
    for split, questions in (("train", {}), ("validation", {}), ("test", QUESTIONS)):
        write_questions(tmp_path / f"{split}.jsonl", questions or {split: ("gone.jpg", "Q99")})
    return tmp_path


def write_questions(path: Path, questions: dict[str, tuple[str, str]]) -> None:
    records = (
        {
            "id": name,
            "input": "Which one is this?",
            "image": image,
            "wikidata_id": entity,
            "output": {"original_answer": "yes", "answer": ["yes"]},
        }
        for name, (image, entity) in questions.items()
    )
    path.write_text("".join(json.dumps(record) + "\n" for record in records))


def run(world: Path, depth: int = 100) -> dict[str, float]:
    (world / "params.yaml").write_text(
        yaml.safe_dump({"kvqae": {"image_search": {"depth": depth}, "image_encoders": ENCODERS}})
    )
    argv = ["--kb", "wiki"]
    argv += ["--kb-features", "kb", "--question-features", "questions", "--questions", "."]
    argv += ["--out-runs", "runs", "--out-routing", "routing"]
    return execute(main, "kvqae.image_search", ImageSearchParameters, argv)


def ranked(path: Path) -> dict[str, dict[int, float]]:
    """The lists in the file, in its order."""
    found = read_run(path)
    return {
        query: {int(d): float(s) for d, s in zip(documents, scores, strict=True) if d >= 0}
        for query, documents, scores in zip(found.queries, found.documents, found.scores, strict=True)
    }


def test_exclusive_routing_and_cosines(world: Path) -> None:
    run(world)
    faces = ranked(world / "runs" / "arcface" / "test_articles.trec")
    assert list(faces) == ["face"]
    assert list(faces["face"]) == [1, 0]  # humans with a face, nearest first
    assert list(faces["face"].values()) == pytest.approx([cosine(20), cosine(40)], abs=1e-3)
    for system in ("imagenet", "clip"):
        places = ranked(world / "runs" / system / "test_articles.trec")
        assert list(places) == ["place"]
        # Non-humans with a readable image; 3 and the twins at equal distance, but float16 decides; 6 is the last.
        assert sorted(places["place"]) == [3, 4, 5, 6]
        assert places["place"][4] == pytest.approx(places["place"][5], rel=2e-7)
        assert list(places["place"]).index(4) + 1 == list(places["place"]).index(5)
        assert list(places["place"])[-1] == 6
        assert [places["place"][article] for article in (3, 4, 6)] == pytest.approx(
            [cosine(20), cosine(20), cosine(30)], abs=1e-3
        )


def test_passages_get_their_articles_score_less_their_position(world: Path) -> None:
    run(world)
    articles = ranked(world / "runs" / "arcface" / "test_articles.trec")["face"]
    passages = ranked(world / "runs" / "arcface" / "test.trec")["face"]
    # Article 0 has passages 0 and 1, article 1 passage 2; in the file scores are a 32-bit step apart.
    assert passages == {2: articles[1], 0: articles[0], 1: pytest.approx(articles[0] - 1e-8, rel=2e-7)}
    assert list(passages) == [2, 0, 1]
    articles = ranked(world / "runs" / "clip" / "test_articles.trec")["place"]
    passages = ranked(world / "runs" / "clip" / "test.trec")["place"]
    twins = {7: articles[4], 8: articles[4] - 1e-8, 9: articles[5], 10: articles[5] - 1e-8}
    assert passages == pytest.approx({4: articles[3], 5: articles[3] - 1e-8, 6: articles[3] - 2e-8} | twins, rel=5e-7)
    assert [passage for passage in passages if passage in twins] == [7, 9, 8, 10]  # by score, then by number


def test_routing_and_counts(world: Path) -> None:
    metrics = run(world)
    routing = read_table(world / "routing" / "test.parquet").select(["question", "readable", "face", "human"])
    assert [tuple(row.values()) for row in routing.to_pylist()] == [
        ("face", True, True, True),
        ("place", True, False, False),
        ("broken", False, False, True),
        ("missing", False, False, None),
    ]
    assert {name: count for name, count in metrics.items() if name.startswith(("kb_", "test_"))} == {
        "kb_humans_with_face": 2,
        "kb_humans_without_face": 1,
        "kb_non_humans": 6,
        "kb_image_missing": 1,
        "kb_image_unreadable": 1,
        "test_face": 1,
        "test_no_face": 1,
        "test_image_missing": 1,
        "test_image_unreadable": 1,
        "test_entity_without_article": 1,
    }


def test_agrees_with_brute_force(world: Path) -> None:
    """Forty random images, each of one or two articles, against a loop in plain Python."""
    rng = np.random.default_rng(0)
    owners = np.concatenate([np.arange(40), rng.permutation(40)[:20]])
    humans = rng.random(60) < 0.5
    lengths = rng.integers(0, 4, 60)
    columns = {"article": range(60), "image": [f"{i}.jpg" for i in owners], "human": humans}
    columns["wikidata_id"] = [f"Q{i}" for i in range(60)]
    write_table(world / "wiki/articles.parquet", pa.table({name: list(values) for name, values in columns.items()}))
    write_table(world / "wiki/passages.parquet", pa.table({"article": np.repeat(np.arange(60), lengths)}))
    faces = rng.random(40) < 0.5
    order = rng.permutation(40)  # features in another order than articles
    write_features(world / "kb", {f"{i}.jpg": (bool(faces[i]), None, 0) for i in order})
    matrix = rng.normal(size=(40, 2)).astype(np.float16)
    np.save(world / "kb" / "arcface" / "vectors.npy", matrix)
    run(world, depth=10)
    query = np.load(world / "questions" / "arcface" / "vectors.npy")[0].astype(float)
    scores = {}
    for article in range(60):
        if humans[article] and faces[owners[article]]:
            vector = matrix[list(order).index(owners[article])].astype(float)
            scores[article] = vector @ query / np.linalg.norm(vector) / np.linalg.norm(query)
    expected = sorted(scores, key=lambda article: (-scores[article], article))[:10]
    found = ranked(world / "runs" / "arcface" / "test_articles.trec")["face"]
    assert list(found) == expected
    assert list(found.values()) == pytest.approx([scores[article] for article in expected], abs=1e-6)


def test_shared_images_count_against_the_depth() -> None:
    owners = {7: [1, 2], 3: [0], 5: [4, 6]}
    images, cosines = np.array([7, 3, 5]), np.array([0.9, 0.8, 0.7])
    assert articles_of(images, cosines, owners, 10) == {1: 0.9, 2: 0.9, 0: 0.8, 4: 0.7, 6: 0.7}
    assert articles_of(images, cosines, owners, 4) == {1: 0.9, 2: 0.9, 0: 0.8, 4: 0.7}


def test_no_article_is_opened_beyond_the_depth() -> None:
    starts = np.array([0, 3, 3, 5, 9])  # three, none, two and four passages
    articles = {3: 0.9, 1: 0.8, 0: 0.7, 2: 0.6}
    assert passages_of(articles, starts, 5) == {
        5: 0.9,
        6: 0.9 - 1e-8,
        7: 0.9 - 2e-8,
        8: 0.9 - 3e-8,
        0: 0.7,
        1: 0.7 - 1e-8,
        2: 0.7 - 2e-8,
    }
