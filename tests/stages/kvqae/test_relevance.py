from pathlib import Path

import numpy as np
import pytest

from stages.kvqae.relevance import RelevanceParameters, main
from tests.kvqae.tiny_wikipedia import write_questions, write_wikipedia
from trivium.formats.questions import SPLITS, Question
from trivium.formats.trec import read_qrels, write_run
from trivium.kvqae.retrieval.relevance import judge_articles, judge_passages
from trivium.measures.runs import Run


def question(name: str, *answers: str) -> Question:
    return Question(name, "?", answers, answers[0])


def lists(*rows: list[int]) -> list[np.ndarray]:
    return [np.array(row, dtype=np.int64) for row in rows]


def test_title_and_text_count_but_not_across_them(tmp_path: Path) -> None:
    wikipedia = write_wikipedia(tmp_path)
    asked = [
        question("title", "iron span"),
        question("text", "built by the Orla Dane"),
        question("across", "Orla Dane Orla"),
        question("nothing", "The", "?"),
        question("within a word", "gineer"),
    ]
    judged = judge_passages(asked, lists(*[list(range(8))] * 5), **wikipedia)
    assert judged.queries == tuple(item.id for item in asked)
    assert [ids.tolist() for ids in judged.relevant] == [[0, 1], [1], [], [], []]


def test_an_article_is_its_whole_text(tmp_path: Path) -> None:
    wikipedia = write_wikipedia(tmp_path)
    asked = [question("joined", "Port Vell"), question("title", "Hollow Hill")]
    assert [ids.tolist() for ids in judge_passages(asked, lists([2, 3, 4], [6, 7]), **wikipedia).relevant] == [
        [],
        [6, 7],
    ]
    assert [ids.tolist() for ids in judge_articles(asked, lists([0, 1], [3, 1]), **wikipedia).relevant] == [[1], [3]]


def run_stage(folder: Path, *texts: str) -> dict[str, float]:
    """With BM25, these text encoders and CLIP."""
    wikipedia, questions = write_wikipedia(folder), write_questions(folder)
    section = {"depth": 100, "text_encoders": {name: {} for name in texts}, "image_encoders": {"clip": {}}}
    (folder / "brought").mkdir(exist_ok=True)
    return main(
        RelevanceParameters(**section),
        questions=questions["viquae"],
        text_runs=folder,
        image_runs=folder,
        brought=folder / "brought",
        **wikipedia,
        out=folder / "relevance",
        out_brought=folder / "cut",
        out_brought_counts=folder / "cut.json",
    )


def system(folder: Path, name: str, passages: list[int], articles: list[int] | None = None) -> Path:
    for split in SPLITS:
        for suffix, ids in (("", passages), ("_articles", articles)):
            if ids is not None:
                run = Run.from_dict({f"{split}-v1": {number: -float(rank) for rank, number in enumerate(ids)}})
                write_run(folder / name / f"{split}{suffix}.trec", run)
    return folder / name


def test_stage_pools_all_systems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    system(tmp_path, "clip", [2], [1, 2])
    system(tmp_path, "bm25", [1, 0])
    metrics = run_stage(tmp_path)
    passages, articles = (read_qrels(tmp_path / "relevance" / f"test_{kind}.qrels") for kind in ("passage", "article"))
    assert passages.queries == articles.queries == ("test-v1", "test-v2", "test-v3")
    assert [ids.tolist() for ids in passages.relevant] == [[0], [], []]
    assert [ids.tolist() for ids in articles.relevant] == [
        [0, 1, 2],
        [],
        [],
    ]  # 0 for bm25's passages, 2 from clip's list
    expected = {
        "questions": 3,
        "judged_passages": 3,
        "judged_articles": 3,
        "without_relevant_passage": 2,
        "without_relevant_article": 2,
        "answers_normalised_to_nothing": 1,
    }
    assert metrics == {f"{split}_{name}": value for split in SPLITS for name, value in expected.items()}
