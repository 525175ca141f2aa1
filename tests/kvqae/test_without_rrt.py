"""KVQAE's re-ranking with `kvqae.rrt.use: false`, stage after stage: no DELG features, and the page says so."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import yaml

from stages.kvqae import evaluate_reranking, local_features, rerank, rerank_fuse, rrt
from stages.kvqae.rerank_fuse import RerankFuseParameters
from stages.kvqae.rrt import RrtParameters
from tests.kvqae.reranked_world import write_reranked
from trivium.core.image_shards import Images, write_images
from trivium.core.parameters import Parameters
from trivium.core.stage import execute
from trivium.core.tables import read_json, write_json_lines, write_table
from trivium.formats.trec import read_qrels, read_run, write_qrels
from trivium.kvqae.rerankers.evaluation import RerankingTablesParameters
from trivium.kvqae.rerankers.local_features import LocalFeaturesParameters, write_list
from trivium.page.kvqae.reranking import reranking_sections

ROOT = Path(__file__).parents[2]
PASSAGES = 100  # of `write_reranked`


@pytest.fixture
def parameters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """The sample's parameters without RRT, in the folder where the stages run."""
    monkeypatch.chdir(tmp_path)
    tree = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))
    tree["kvqae"]["rrt"]["use"] = False
    tree["kvqae"]["evaluate_reranking"] |= {"permutations": 500, "resamples": 100}
    tree["kvqae"]["rerankers"]["rrt"]["reads"] = ["rrt", "features"]
    tree["run"] = {"workers": 1}
    Path("params.yaml").write_text(yaml.safe_dump(tree), encoding="utf-8")
    return tree["kvqae"]


def write_inputs() -> None:
    """Lists of text and faces, two images on either side, and 40 questions a split, faces on even ones."""
    write_reranked(Path("runs"))
    write_images(Path("kb"), [("a.jpg", b""), ("b.jpg", b"")])
    write_images(Path("asked"), [("q.jpg", b"")])
    article_of = [passage // 2 for passage in range(PASSAGES)]
    write_table(Path("passages.parquet"), pa.table({"article": article_of}))
    write_table(Path("articles.parquet"), pa.table({"image": ["a.jpg"] * (PASSAGES // 2)}))
    for split in ("validation", "test"):
        names = [f"{split}{number}" for number in range(40)]
        output = {"original_answer": "A", "answer": ["A"]}
        records = [
            {"id": name, "input": "?", "image": "q.jpg", "wikidata_id": "Q1", "output": output} for name in names
        ]
        write_json_lines(Path(f"{split}.jsonl"), records)
        qrels = read_qrels(Path(f"runs/{split}_passage.qrels"))
        articles = tuple(ids // 2 for ids in qrels.relevant)
        write_qrels(Path(f"runs/{split}_article.qrels"), type(qrels)(qrels.queries, articles))
    faces = [number % 2 == 0 for number in range(40)]
    write_table(Path("routing.parquet"), pa.table({"question": names, "face": faces, "human": faces}))


def run(main: Callable[..., Any], section: str, model: type[Parameters], /, **arguments: object) -> dict[str, float]:
    """A stage by its command line."""
    words = []
    for name, value in arguments.items():
        words += [f"--{name.replace('_', '-')}", *map(str, value if isinstance(value, list) else [value])]
    return execute(main, f"kvqae.{section}", model, words)


def test_from_the_re_ranker_to_the_page(parameters: dict[str, object]) -> None:
    write_inputs()
    counts = run(rrt.main, "rrt", RrtParameters, source="hub", world_seed=0, articles=9, imageless=0, out="rrt")
    assert counts == {"left_out": 1}
    for images, name, count in (("kb", "kb", 2), ("asked", "questions", 1)):
        write_list(Path(f"{name}.txt"), Images(Path(images)).names)
        counts = run(
            local_features.describe_side,
            "local_features",
            LocalFeaturesParameters,
            images=images,
            compared=f"{name}.txt",
            extractor="rrt/extractor",
            name=images,
            out=f"features/{name}",
        )
        assert counts == {"images_left_out": count}
    shutil.rmtree("runs/rrt")
    counts = run(
        rerank.main,
        "rerank",
        rerank.RerankParameters,
        reranker="rrt",
        runs="runs/initial",
        questions=".",
        articles="articles.parquet",
        passages="passages.parquet",
        out="runs/rrt",
    )
    assert counts == {"validation_questions_left_out": 40, "test_questions_left_out": 40}
    folders = {"initial": "runs/initial", "reranked": "runs"}
    counts = run(
        rerank_fuse.main,
        "rerank_fuse",
        RerankFuseParameters,
        **folders,
        qrels="runs/validation_passage.qrels",
        out_choice="choice.json",
        out_tried="tried.csv",
        out_tuned="tuned.json",
        out="runs",
    )
    assert read_json(Path("tuned.json"))["re_rankers_without_lists"] == 1
    assert counts["test_image_alone_kept_initial"] == 20
    # What is read: every question has a list, with and without a face.
    assert set(read_run(Path("runs/reranked_text_image/test.trec")).queries) == {
        f"test{number}" for number in range(40)
    }
    Path("brought").mkdir()
    metrics = run(
        evaluate_reranking.main,
        "evaluate_reranking",
        RerankingTablesParameters,
        initial="runs/initial/test.trec",
        reranked="runs",
        fused="runs",
        brought="brought",
        bm25_image="runs/initial/test.trec",
        passage_qrels="runs/test_passage.qrels",
        article_qrels="runs/test_article.qrels",
        passages="passages.parquet",
        questions="test.jsonl",
        routing="routing.parquet",
        identities="rrt",  # without a list
        landmarks="rrt",
        out_tables="tables.json",
        out_per_query="per_query.parquet",
    )
    assert metrics["rrt_left_out"] == 1
    tables = read_json(Path("tables.json"))
    assert [row["name"] for row in tables["article"]["rows"]] == ["image"]
    assert [row["name"] for row in tables["article_face"]["rows"]] == ["arcface", "image"]
    first, second = tables["article_face"]["rows"]
    assert first["values"] == second["values"]  # ArcFace alone
    published = yaml.safe_load((ROOT / "tests/published/kvqae.yaml").read_text(encoding="utf-8"))
    choice = read_json(Path("choice.json"))
    trained = {"initial_validation_mrr": 0.4, "validation_mrr": 0.3}
    sections = reranking_sections(tables, choice, trained, parameters, published, sample=False)
    assert list(sections) == ["table-5", "table-6"]
    for html in sections.values():
        assert "RRT was left out (kvqae.rrt.use)" in html
        assert "RRT (whole image)" not in html
