import math

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import spacy
from spacy.lookups import Lookups

from trivium.core.tables import write_json_lines, write_table
from trivium.formats.trec import read_qrels, read_run
from trivium.kvqae.retrieval.evaluation import (
    content_stems,
    overlap,
    spacy_lemmas,
    write_overlaps,
)


def measure(folder, model):
    """Run the stage on the files that a test has written."""
    return write_overlaps(
        model,
        questions=folder / "test.jsonl",
        kb=folder / "wiki",
        qrels=read_qrels(folder / "test.qrels"),
        runs={"bm25": read_run(folder / "bm25" / "test.trec")},
        out=folder / "out.parquet",
    )


def test_overlap_is_the_share_of_the_questions_content_lemmas():
    question = "Which rivers did this bridge cross?"  # river, bridge, cross
    assert content_stems(question) == {"river", "bridg", "cross"}
    assert overlap(question, "The river is crossed by bridges", content_stems) == 3 / 3
    assert overlap(question, "A River, a river", content_stems) == 1 / 3
    assert math.isnan(overlap("Who was he?", "he", content_stems))


def test_stage_splits_by_relevance_of_the_first_passage(tmp_path):
    write_json_lines(
        tmp_path / "test.jsonl",
        [
            {"id": q, "input": text, "output": {"answer": ["Po"], "original_answer": "Po"}}
            for q, text in {"a": "Which river flows here?", "b": "Which river flows here?", "c": "Who was he?"}.items()
        ],
    )
    write_table(tmp_path / "wiki/articles.parquet", pa.table({"title": ["Po", "Elm"]}))
    passages = pa.table({"article": [0, 1], "text": ["a river flows", "a tree"]})
    write_table(tmp_path / "wiki/passages.parquet", passages)
    (tmp_path / "test.qrels").write_text("a 0 0 1\nb 0 0 1\nc 0 0 1\n")
    (tmp_path / "bm25").mkdir()
    (tmp_path / "bm25" / "test.trec").write_text("a Q0 0 1 2.0 t\nb Q0 1 1 2.0 t\nb Q0 0 2 1.0 t\nc Q0 0 1 1.0 t\n")
    metrics = measure(tmp_path, None)
    assert metrics == {
        "stems_instead_of_lemmas": 1.0,
        "questions_without_content_word": 1.0,  # c has no overlap to take a median of
        "bm25_relevant_count": 1.0,
        "bm25_relevant_median_overlap": 1.0,
        "bm25_not_relevant_count": 1.0,
        "bm25_not_relevant_median_overlap": 0.0,
    }
    assert pq.read_table(tmp_path / "out.parquet")["relevant"].to_pylist() == [True, False, True]


def with_lemmatizer(nlp):
    """Two lemmas, which no stemmer finds."""
    lookups = Lookups()
    lookups.add_table("lemma_lookup", {"flew": "fly", "geese": "goose"})
    nlp.add_pipe("lemmatizer", config={"mode": "lookup"}).initialize(lookups=lookups)
    return nlp


@pytest.fixture
def lemmatizer(tmp_path):
    with_lemmatizer(spacy.blank("en")).to_disk(tmp_path / "pipeline")
    return tmp_path / "pipeline"


def test_a_pipeline_in_a_folder_gives_lemmas(lemmatizer):
    lemmas = spacy_lemmas(str(lemmatizer))
    assert lemmas("Where did the geese fly?") == {"goose", "fly"}
    assert overlap("Where did the geese fly?", "A goose flew away.", lemmas) == 2 / 2
    assert overlap("Where did the geese fly?", "A goose flew away.", content_stems) == 0 / 2
