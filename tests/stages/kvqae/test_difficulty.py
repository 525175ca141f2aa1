"""What makes visual questions hard: factors on three questions by hand, and bad input."""

import csv

import pyarrow as pa
import pytest

from stages.kvqae import difficulty
from stages.kvqae.difficulty import DifficultyParameters
from trivium.bridges.visual_difficulty import vague_mention
from trivium.core.tables import write_json_lines, write_table

KEYS = {"risk": 0.05, "smallest_set": 1, "confidence": 0.95, "resamples": 300, "seed": 0}


def read_rows(path):
    with path.open(encoding="utf-8") as file:
        return {(line["model"], line["factor"]): line for line in csv.DictReader(file)}


def test_mentions():
    assert vague_mention("Where was she born?")
    assert vague_mention("Who was the husband of this woman?")
    assert not vague_mention("What is the main food of this species?")
    assert not vague_mention("This Velmoran painter was born in 1890. Which prize did this man win?")


def kvqae_world(folder, passages_read=((0,), (2, 1), ())):
    """Three questions: v1 with good evidence and a face, v2 with a wrong first passage, v3 without any passage."""
    texts = {"v1": "Which river did this bridge cross?", "v2": "Who did he marry?", "v3": "When was this tower built?"}
    answers = {"v1": "the Vell", "v2": "Ada of Port Vell", "v3": "1911"}
    write_json_lines(
        folder / "test.jsonl",
        (
            {
                "id": name,
                "input": text,
                "wikidata_id": f"Q{name[1]}",
                "output": {"answer": [], "original_answer": answers[name]},
            }
            for name, text in texts.items()
        ),
    )
    write_table(folder / "wiki/articles.parquet", pa.table({"title": ["Span", "Ada"]}))
    passages = ["The bridge crosses the river Vell.", "Ada married.", "Nothing."]
    write_table(folder / "wiki/passages.parquet", pa.table({"article": [0, 1, 1], "text": passages}))
    (folder / "run.trec").write_text("v1 Q0 0 1 2.0 t\nv2 Q0 2 1 2.0 t\nv2 Q0 1 2 1.0 t\n")
    (folder / "test.qrels").write_text("v1 0 0 1\nv2 0 1 1\nv3 0 -1 0\n")
    routing = {"question": list(texts), "face": [True, False, False], "human": [False, True, False]}
    write_table(folder / "routing.parquet", pa.table(routing))
    rows = [
        {"id": name, "seed": seed, "f1": f1, "passages": list(read)}
        for seed, values in {0: (1.0, 0.5, 0.0), 1: (0.5, 0.5, 0.0)}.items()
        for name, f1, read in zip(texts, values, passages_read, strict=True)
    ]
    write_table(folder / "answers.parquet", pa.Table.from_pylist(rows))


def run_kvqae(folder):
    names = {"questions": "test.jsonl", "answers": "answers.parquet", "run": "run.trec", "qrels": "test.qrels"}
    names |= {name: f"{name}.parquet" for name in ("routing",)} | {"kb": "wiki"}
    paths = {name: folder / file for name, file in names.items()}
    return difficulty.main(DifficultyParameters(**KEYS), **paths, out=folder / "kvqae.csv")


def test_kvqae(tmp_path):
    kvqae_world(tmp_path)
    metrics = run_kvqae(tmp_path)
    assert metrics["f1"] == pytest.approx((0.75 + 0.5 + 0) / 3)
    rows = read_rows(tmp_path / "kvqae.csv")
    sizes = {factor: (int(row["yes"]), int(row["no"])) for (_, factor), row in rows.items()}
    assert sizes == {
        "vague_mention": (1, 2),
        "not_a_person": (2, 1),
        "no_face": (2, 1),
        "number_answer": (1, 2),
        "no_relevant_passage": (1, 2),
        "first_not_relevant": (1, 1),  # v3 has no passage
        "long_answer": (2, 1),  # 2, 4 and 1 words: the lower of two even cuts
        "low_overlap": (1, 1),
    }
    assert metrics["kvqae_reader_first_not_relevant_delta_points"] == pytest.approx(-25)
    assert metrics["kvqae_reader_no_relevant_passage_delta_points"] == pytest.approx(-62.5)
    assert metrics["first_not_relevant_uncounted"] == 1
    assert metrics["passages_read"] == 2


def test_relevant_passages_that_were_not_read_do_not_count(tmp_path):
    kvqae_world(tmp_path, passages_read=((0,), (2,), ()))  # v2's relevant passage is the second
    metrics = run_kvqae(tmp_path)
    assert metrics["passages_read"] == 1
    rows = read_rows(tmp_path / "kvqae.csv")
    (row,) = (row for (_, factor), row in rows.items() if factor == "no_relevant_passage")
    assert (int(row["yes"]), int(row["no"])) == (2, 1)
