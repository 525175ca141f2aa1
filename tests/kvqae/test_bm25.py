"""The two stages of BM25 and the training pairs made from what they find, on Lucene itself."""

import csv
from pathlib import Path

import pytest

from stages.kvqae import bm25_index, bm25_search
from tests.kvqae.tiny_wikipedia import write_params, write_questions, write_wikipedia
from trivium.core.errors import BadInput
from trivium.core.stage import execute
from trivium.core.tables import read_json, read_json_lines, read_table, write_json_lines
from trivium.formats.questions import read_questions
from trivium.formats.trec import read_run
from trivium.kvqae.retrieval import bm25, training_pairs
from trivium.kvqae.retrieval.bm25 import grid
from trivium.measures.runs import Run


def arguments(**paths: Path) -> list[str]:
    return [part for name, path in paths.items() for part in (f"--{name.replace('_', '-')}", str(path))]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Indexes and runs of the tiny Wikipedia."""
    folder = tmp_path_factory.mktemp("bm25")
    params = write_params(
        folder,
        bm25_index={"analyzer": "standard", "threads": 1, "heap_gib": 1},
        bm25_search={"k1_step": 1.0, "b_step": 0.5, "depth": 5, "threads": 2, "heap_gib": 1},
    )
    paths = {"params": params} | write_wikipedia(folder) | write_questions(folder)
    paths |= {
        name: folder / name
        for name in ("index", "wikipedia", "bm25", "bm25_triviaqa", "grid.csv", "metrics.json", "counts.json")
    }
    return paths


@pytest.fixture(scope="module")
def metrics(world: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, float]:
    base = {name: world[name] for name in ("params", "kb")}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("work"))
        argv = arguments(**base, out_kb=world["index"], out_wikipedia=world["wikipedia"])
        sizes = execute(bm25_index.main, "kvqae.bm25_index", bm25_index.Bm25IndexParameters, argv)
        argv = arguments(
            **base,
            questions=world["viquae"],
            triviaqa=world["triviaqa"],
            index=world["index"],
            wikipedia=world["wikipedia"],
            out_triviaqa=world["bm25_triviaqa"],
            out_triviaqa_counts=world["counts.json"],
            out=world["bm25"],
            out_grid=world["grid.csv"],
            metrics=world["metrics.json"],
        )
        found = execute(bm25_search.main, "kvqae.bm25_search", bm25.Bm25SearchParameters, argv)
        found |= read_json(world["counts.json"])
    return sizes | found


def test_grid_excludes_its_end_and_accumulates_no_rounding() -> None:
    settings = grid(0.1, 0.1)
    assert len(settings) == 300
    assert settings[:2] == [(0.0, 0.0), (0.0, 0.1)]
    assert [b for _, b in settings[:10]] == [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
    assert grid(5.0, 0.7) == [(0.0, 0.0), (0.0, 0.7)]


def test_viquae_sees_the_knowledge_base_and_triviaqa_everything(
    world: dict[str, Path], metrics: dict[str, float]
) -> None:
    assert (metrics["kb_passages"], metrics["wikipedia_passages"]) == (5, 8)
    viquae, triviaqa = read_run(world["bm25"] / "test.trec"), read_run(world["bm25_triviaqa"] / "test.trec")
    assert viquae.documents.max() < 5 <= triviaqa.documents.max()
    assert triviaqa.documents.shape[1] == 5  # the depth asked for
    assert set(viquae.queries) == {"test-v1", "test-v2", "test-v3"}
    assert metrics["triviaqa_test_without_result"] == 1  # Xyzzy?
    assert set(triviaqa.queries) == {"test-t1", "test-t3"}


def test_best_setting_is_the_maximum_of_the_written_grid(world: dict[str, Path], metrics: dict[str, float]) -> None:
    with world["grid.csv"].open() as file:
        rows = [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]
    assert [(row["k1"], row["b"]) for row in rows] == [(k1, b) for k1 in (0.0, 1.0, 2.0) for b in (0.0, 0.5)]
    best = max(rows, key=lambda row: row["mrr"])
    assert {"k1": metrics["k1"], "b": metrics["b"], "mrr": metrics["validation_mrr"]} == best
    # v1 is answered by passage 0 and 4 (Vell), v2 by none (Port | Vell), v3 by none: the mean over all three
    run = read_run(world["bm25"] / "validation.trec").documents
    first = 1 + min(run[0].tolist().index(number) for number in (0, 4) if number in run[0])
    assert metrics["validation_mrr"] == pytest.approx((1 / first + 0 + 0) / 3)


def write_pairs(world: dict[str, Path], name: str, folder: Path) -> dict[str, float]:
    outs = (folder / f"{name}_{split}.parquet" for split in ("train", "validation"))
    files = training_pairs.PairFiles(*outs, world["kb"])
    runs = world["bm25" if name == "viquae" else "bm25_triviaqa"]
    return training_pairs.write_pairs(files, questions=world[name], runs=runs, depth=5)


@pytest.mark.usefixtures("metrics")
def test_pairs(world: dict[str, Path], tmp_path: Path) -> None:
    counts, trivia_counts = (write_pairs(world, name, tmp_path) for name in ("viquae", "triviaqa"))
    rows = {row["id"]: row for row in read_table(tmp_path / "viquae_train.parquet").to_pylist()}
    assert set(rows) == {"train-v1"}  # v2's answer is cut in two, v3's is nowhere
    run = read_run(world["bm25"] / "train.trec").documents[0].tolist()
    assert rows["train-v1"]["question"] == "Which river was crossed by this bridge of an engineer?"
    assert rows["train-v1"]["positives"] == [number for number in run if number in (0, 4)]
    assert rows["train-v1"]["negatives"] == [number for number in run if number not in (0, 4, -1)]
    trivia = {row["id"]: row for row in read_table(tmp_path / "triviaqa_train.parquet").to_pylist()}
    assert trivia["train-t1"]["positives"][0] == 1
    assert counts["train_questions"] == 1
    assert counts["train_dropped_without_positive"] == 2
    assert counts["train_without_own_article"] == 0
    assert trivia_counts["train_dropped_without_positive"] == 1  # nothing was retrieved
    assert trivia_counts["train_questions"] + trivia_counts["train_dropped_without_negative"] == 2


@pytest.mark.usefixtures("metrics")
def test_positives_of_the_own_article_come_after_those_retrieved(world: dict[str, Path]) -> None:
    question, *_ = read_questions(world["viquae"] / "train.jsonl")
    run = Run.from_dict({question.id: {4: 2.0, 3: 1.0}})
    own = training_pairs.own_passages([question], world["kb"])
    assert [ids.tolist() for ids in own] == [[0, 1]]
    table, counts = training_pairs.make_pairs([question], run, own, world["kb"])
    assert table.to_pylist()[0] == {
        "id": "train-v1",
        "question": "Which river was crossed by this bridge of an engineer?",
        "positives": [4, 0],  # passage 1 of the article is irrelevant, but BM25 did not offer it: no negative
        "negatives": [3],
    }
    assert counts == {"questions": 1, "dropped_without_positive": 0, "dropped_without_negative": 0}
    only_relevant = Run.from_dict({question.id: {4: 2.0}})
    _, counts = training_pairs.make_pairs([question], only_relevant, own, world["kb"])
    assert counts == {"questions": 0, "dropped_without_positive": 0, "dropped_without_negative": 1}


def test_leaking_training_question_is_refused_before_anything_is_searched(
    world: dict[str, Path], metrics: dict[str, float], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert metrics["viquae_without_original_question"] == 0
    monkeypatch.chdir(tmp_path)
    records = [record for _, record in read_json_lines(world["triviaqa"] / "train.jsonl")]
    records[1]["input"] = "which river does  an Iron Span cross"
    write_json_lines(tmp_path / "triviaqa" / "train.jsonl", records)
    with pytest.raises(BadInput, match=r"train\.jsonl:2: field 'input': training question that a ViQuAE question"):
        bm25_search.main(
            bm25.Bm25SearchParameters(k1_step=1.0, b_step=0.5, depth=5, threads=2, heap_gib=1),
            None,
            questions=world["viquae"],
            triviaqa=tmp_path / "triviaqa",
        )
    assert not list(tmp_path.rglob("*.trec"))
