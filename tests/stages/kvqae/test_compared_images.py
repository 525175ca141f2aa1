"""Which images RRT compares, and that nothing changes where only they are described."""

from pathlib import Path

import pyarrow as pa
import pytest
import torch
import yaml

from stages.kvqae import local_features, rerank
from stages.kvqae.rerank import RerankParameters
from tests.stages.kvqae.test_image_search import write_questions
from tests.stages.kvqae.test_local_features import jpeg
from trivium.core.image_shards import write_images
from trivium.core.stage import execute
from trivium.core.tables import read_table, write_json, write_table
from trivium.formats.trec import read_run, write_run
from trivium.kvqae.rerankers.local_features import LocalFeaturesParameters, read_list, write_compared_images, write_list
from trivium.kvqae.rerankers.rrt import build_rrt, save_rrt
from trivium.measures.runs import Run
from trivium.vision.local_descriptors.extractors import SiftExtractor

# Passages 0-2 are of article 0, 3 and 4 of article 1, and so on; article 6 has no image, 7's is nowhere.
ARTICLE_OF = [0, 0, 0, 1, 1, 2, 3, 4, 5, 6, 7]
IMAGES = ["f.jpg", "a.jpg", "e.jpg", "a.jpg", "b.jpg", "d.jpg", None, "gone.jpg"]
RUNS = {
    "validation": {"v": {3: 9.0, 2: 8.0, 9: 7.0, 8: 6.0}},
    "test": {"t": {7: 9.0, 6: 8.0, 10: 7.0, 5: 6.0}, "u": {0: 1.0}, "w": {}},
}
ASKED = {"train": ["x.jpg"], "validation": ["q.jpg"], "test": ["p.jpg", "q.jpg", "lost.jpg"]}
DEPTH = 3


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    """The stage's inputs; returns its command line."""
    monkeypatch.chdir(tmp_path)
    entry = {"reads": ["rrt", "features"], "depth": DEPTH, "batch": 3}
    features = {"local": "", "most": 5, "max_side": 256, "max_pixels": 10_000_000}
    sections = {
        "compared_images": {},
        "local_features": features,
        "rerank": {"max_tokens": 8, "batch": 1},
        "rerankers": {"rrt": entry},
    }
    Path("params.yaml").write_text(yaml.safe_dump({"kvqae": sections, "run": {"workers": 1}}))
    write_table(Path("wiki/articles.parquet"), pa.table({"image": pa.array(IMAGES, pa.string())}))
    write_table(Path("wiki/passages.parquet"), pa.table({"article": ARTICLE_OF}))
    for split, run in RUNS.items():
        write_run(Path(f"runs/{split}.trec"), Run.from_dict(run))
    for split, images in ASKED.items():
        ids = [*RUNS.get(split, {"y": {}})]
        asked = {name: (image, "Q1") for name, image in zip(ids, images, strict=True)}
        write_questions(Path(f"{split}.jsonl"), asked)
    arguments = {
        "runs": "runs",
        "questions": ".",
        "kb": "wiki",
        "out": "compared",
    }
    return {name: Path(value) for name, value in arguments.items()}


def run(paths: dict[str, Path]) -> dict[str, float]:
    return write_compared_images(**paths, depth=3)


def test_the_best_passages_articles_and_the_questions_of_both_splits(stage: dict[str, Path]) -> None:
    """8 and 5 stand below the third place, the training question is not re-ranked, and article 6 has no image."""
    assert run(stage) == {"kb_images": 4, "questions_images": 3}
    assert read_list(Path("compared/kb.txt")) == ["a.jpg", "b.jpg", "f.jpg", "gone.jpg"]
    assert read_list(Path("compared/questions.txt")) == ["lost.jpg", "p.jpg", "q.jpg"]


def re_ranked(features: str) -> dict[str, Run]:
    """The runs of RRT on these folders of features."""
    tree = yaml.safe_load(Path("params.yaml").read_text())
    tree["kvqae"]["rerankers"]["rrt"]["reads"] = ["rrt", features]
    Path("params.yaml").write_text(yaml.safe_dump(tree))
    arguments = ["--reranker", "rrt", "--runs", "runs", "--questions", ".", "--question-images", "."]
    out = ["--kb", "wiki", "--out", f"{features}_runs"]
    execute(rerank.main, "kvqae.rerank", RerankParameters, arguments + out)
    return {split: read_run(Path(f"{features}_runs/{split}.trec")) for split in RUNS}


def test_re_ranking_is_the_same_where_only_candidates_are_described(stage: dict[str, Path]) -> None:
    run(stage)
    torch.manual_seed(0)
    save_rrt(build_rrt(global_dimension=SiftExtractor.global_dimension, layers=1, heads=4, hidden=16), Path("rrt"))
    write_json(Path("extractor/extractor.json"), {"kind": "sift"})
    write_images(Path("kb"), [(f"{name}.jpg", jpeg(seed)) for seed, name in enumerate("zfbcade")], shard_size=2)
    write_images(Path("questions"), [(f"{name}.jpg", jpeg(10 + seed)) for seed, name in enumerate("xqp")])
    write_list(Path("all/kb.txt"), [f"{name}.jpg" for name in "abcdefz"])
    write_list(Path("all/questions.txt"), [f"{name}.jpg" for name in "pqx"])
    counts = {}
    for lists in ("compared", "all"):
        for side in ("kb", "questions"):
            argv = ["--name", side, "--images", side, "--compared", f"{lists}/{side}.txt", "--extractor", "extractor"]
            argv += ["--out", f"{lists}_features/{side}"]
            counts[lists, side] = execute(
                local_features.describe_side, "kvqae.local_features", LocalFeaturesParameters, argv
            )  # fmt: skip
    assert [each["images"] for each in counts.values()] == [3, 2, 7, 3]
    assert [each["images_missing"] for each in counts.values()] == [1, 1, 0, 0]
    # In the order of the shards, as all of them are.
    assert read_table(Path("compared_features/kb/names.parquet"))["name"].to_pylist() == ["f.jpg", "b.jpg", "a.jpg"]
    few, all_ = re_ranked("compared_features"), re_ranked("all_features")
    for split in RUNS:
        assert few[split].queries == all_[split].queries
        assert (few[split].documents == all_[split].documents).all()
        assert (few[split].scores == all_[split].scores)[few[split].documents >= 0].all()
    assert few["test"].documents[0].tolist()[:2] != [-1, -1]
    assert (few["validation"].documents >= 0).sum() == 2
