from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import torch
import yaml

from stages.kvqae.rerank import RerankParameters, main
from tests.kvqae.tiny_features import GLOBAL, folder_of, write
from tests.stages.kvqae.test_image_search import write_questions
from trivium.core.stage import execute
from trivium.core.tables import write_table
from trivium.formats.trec import read_run, write_run
from trivium.kvqae.rerankers.rrt import build_rrt, image_pairs, rerank, save_rrt, score_pairs
from trivium.measures.runs import Run
from trivium.nets.reranking_transformer import RerankingTransformer
from trivium.vision.local_descriptors.folder import FeatureFolder

# Passages 0-2 are of article 0, 3-4 of article 1, 5 of article 2, 6-7 of article 3; article 2 has no readable image.
ARTICLE_OF = np.array([0, 0, 0, 1, 1, 2, 3, 3])
IMAGE_OF = np.array([1, 0, -1, 2])
DEPTH, BATCH = 6, 3


@pytest.fixture
def model() -> RerankingTransformer:
    torch.manual_seed(0)
    return build_rrt(global_dimension=GLOBAL, layers=1, heads=4, hidden=16).eval()


@pytest.fixture
def base() -> FeatureFolder:
    return folder_of([3, 4, 0, None], seed=1)


@pytest.fixture
def run() -> Run:
    scores = {
        "q1": {2: 9.0, 3: 8.0, 5: 7.0, 0: 6.0, 6: 5.0, 4: 4.0, 1: 3.0},
        "q2": {1: 2.0, 0: 1.0},
        "q3": {3: 1.0},
        "q4": {},
    }
    return Run.from_dict(scores, name="initial")


def test_each_image_pair_stands_once(run: Run) -> None:
    pairs, places = image_pairs(run, np.array([1, 0, -1, 0]), IMAGE_OF[ARTICLE_OF])
    assert pairs.tolist() == [[0, 1], [1, 0], [1, 1], [1, 2]]
    assert places.tolist() == [[2, 1, -1, 2, 3, 1, 2], [0, 0] + 5 * [-1], 7 * [-1], 7 * [-1]]


def test_ranks_by_the_pairs_scores(run: Run, base: FeatureFolder, model: RerankingTransformer) -> None:
    questions, asked = folder_of([2, 3], seed=2), np.array([1, 0, -1, 0])
    ranked, counts = rerank(run.first(DEPTH), asked, IMAGE_OF[ARTICLE_OF], questions, base, model, batch=BATCH)
    articles = score_pairs(model, questions, base, np.array([[1, 1], [1, 0], [1, 2]]), batch=3)
    # The best six: 2 and 0 of article 0, 3 and 4 of article 1, 6 of article 3; 5 has no image, 1 is too far down.
    expected = {2: articles[0], 0: articles[0] - 3e-8, 3: articles[1] - 1e-8, 4: articles[1] - 5e-8}
    expected[6] = articles[2] - 4e-8
    order = sorted(expected, key=lambda passage: -expected[passage])
    assert ranked.documents[0].tolist() == [*order, -1]
    assert np.allclose(ranked.scores[0, :-1], [expected[passage] for passage in order], atol=1e-6)
    assert ranked.documents[1, :2].tolist() == [1, 0]
    assert (ranked.documents[2:] == -1).all()
    assert counts == {
        "questions_without_image": 1,
        "passages": 9,
        "passages_without_image": 1,
        "pairs": 4,
        "pairs_without_locals": 1,
    }


@pytest.fixture
def stage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, base: FeatureFolder, run: Run, model: RerankingTransformer
) -> list[str]:
    """The stage's inputs; returns its command line."""
    monkeypatch.chdir(tmp_path)
    entry = {"reads": ["rrt", "features"], "depth": DEPTH, "batch": BATCH}
    tree = {"kvqae": {"rerank": {"max_tokens": 8, "batch": 1}, "rerankers": {"rrt": entry}}}
    Path("params.yaml").write_text(yaml.safe_dump(tree))
    write(Path("features/kb"), base)
    write(Path("features/questions"), folder_of([2, 3], seed=2))
    save_rrt(model, Path("rrt"))
    names = [f"{image}.jpg" if image >= 0 else None for image in IMAGE_OF.tolist()]
    write_table(Path("wiki/articles.parquet"), pa.table({"image": pa.array(names, pa.string())}))
    write_table(Path("wiki/passages.parquet"), pa.table({"article": ARTICLE_OF}))
    write_run(Path("runs/test.trec"), run)
    images = {"q1": "1.jpg", "q2": "0.jpg", "q3": "gone.jpg", "q4": "0.jpg"}
    write_questions(Path("test.jsonl"), {name: (image, "Q1") for name, image in images.items()})
    write_run(Path("runs/validation.trec"), Run.from_dict({"v": {0: 1.0}}))
    write_questions(Path("validation.jsonl"), {"v": ("1.jpg", "Q1")})
    arguments = {
        "reranker": "rrt",
        "runs": "runs",
        "questions": ".",
        "question-images": ".",
        "kb": "wiki",
        "out": "out",
    }
    return [word for name, value in arguments.items() for word in (f"--{name}", value)]


def test_stage(stage: list[str], run: Run, base: FeatureFolder, model: RerankingTransformer) -> None:
    metrics = execute(main, "kvqae.rerank", RerankParameters, stage)
    questions, asked = folder_of([2, 3], seed=2), np.array([1, 0, -1, 0])
    expected, counts = rerank(run.first(DEPTH), asked, IMAGE_OF[ARTICLE_OF], questions, base, model, batch=BATCH)
    assert {name: metrics[f"test_{name}"] for name in counts} == counts
    assert (read_run(Path("out/test.trec")).documents == expected.select(["q1", "q2"]).documents[:, :-1]).all()
