"""Stage kvqae-name_search: the article whose name is nearest to the picture comes first, with its passages."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import torch
import yaml

from stages.kvqae.name_search import main
from tests.nets.test_clip_text import write_both_towers
from tests.stages.kvqae.test_image_search import ARTICLES, QUESTION_IMAGES, QUESTIONS, write_features, write_questions
from trivium.core.stage import execute
from trivium.core.tables import read_table, write_table
from trivium.formats.trec import read_run
from trivium.kvqae.retrieval.image_search import STEP, NameSearchParameters
from trivium.nets.open_clip_folder import ClipText

TITLES = ["Ada", "Bob", "Cleo", "Tower", "Flag of Dor", "Flag of Ur", "Ship", "Gone", "Torn", "No picture"]
LIKE = {"a_face.jpg": "Flag of Ur", "a_place.jpg": "Ada"}  # what the question's picture is nearest to


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    images, _, lengths = zip(*ARTICLES, strict=True)
    numbers = range(len(ARTICLES))
    write_table(
        tmp_path / "wiki/articles.parquet", pa.table({"article": list(numbers), "title": TITLES, "image": images})
    )
    write_table(tmp_path / "wiki/passages.parquet", pa.table({"article": np.repeat(np.arange(len(ARTICLES)), lengths)}))
    write_features(tmp_path / "questions", QUESTION_IMAGES)
    tower = ClipText(write_both_towers(tmp_path / "clip"), torch.device("cpu"))
    seen = [tower.encode([LIKE.get(name, "x")], 1)[0] for name in QUESTION_IMAGES]
    np.save(tmp_path / "questions/clip/vectors.npy", np.array(seen, np.float16))
    for split in ("train", "validation", "test"):
        (tmp_path / "asked").mkdir(exist_ok=True)
        write_questions(tmp_path / f"asked/{split}.jsonl", QUESTIONS)
    return tmp_path


def run(world: Path, model: str = "clip", depth: int = 100) -> dict[str, float]:
    tree = {"name_search": {"batch_size": 4}, "depth": depth, "name_encoders": {"clip": {"model": "clip"}},
            "image_encoders": {"clip": {"model": model}}}  # fmt: skip
    (world / "params.yaml").write_text(yaml.safe_dump({"kvqae": tree}))
    return execute(
        main,
        "kvqae.name_search",
        NameSearchParameters,
        ["--encoder", "clip", "--kb", "wiki", "--questions",
         "asked", "--question-features", "questions", "--out-vectors", "names", "--out", "runs", "--metrics",
         "metrics.json"],
    )  # fmt: skip


def test_the_nearest_name_comes_first_and_its_passages_follow_each_other(world: Path) -> None:
    metrics = run(world)
    assert metrics["names"] == 9  # the tenth article has no image
    assert (metrics["test_questions"], metrics["test_served"]) == (4, 2)
    articles = read_run(world / "runs/test_articles.trec")
    assert articles.queries == ("face", "place")
    assert articles.documents[:, 0].tolist() == [TITLES.index("Flag of Ur"), TITLES.index("Ada")]
    np.testing.assert_allclose(articles.scores[:, 0], 1, atol=1e-3)
    assert set(articles.documents[0].tolist()) == set(range(9))
    passages = read_run(world / "runs/test.trec")
    owner = read_table(world / "wiki/passages.parquet", ["article"])["article"].to_numpy()
    first = passages.documents[1, :2].tolist()
    assert owner[first].tolist() == [0, 0]
    assert first == [0, 1]
    assert passages.scores[1, 0] - passages.scores[1, 1] >= STEP / 2
    assert passages.name == "clip_names"
