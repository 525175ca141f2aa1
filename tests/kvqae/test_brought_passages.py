"""The authors' passages, runs and judgements in the place of ours.

The format is that of https://huggingface.co/datasets/PaulLerner/viquae_passages: files train-*-of-*.parquet with the
columns `passage` and `index` (meerqat/data/loading.py, make_passage_dataset); runs and `all_qrels.trec` name rows
(meerqat/ir/metrics.py). Rows are written by hand.
"""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.kvqae.tiny_wikipedia import write_questions, write_wikipedia
from trivium.core.engine import LocalEngine
from trivium.core.errors import BadInput
from trivium.core.tables import read_table
from trivium.formats.questions import read_questions
from trivium.formats.trec import read_run
from trivium.kvqae.knowledge_base.passage_texts import knowledge_base_size
from trivium.kvqae.knowledge_base.passages import PassagesParameters, write_passages
from trivium.kvqae.retrieval.relevance import brought_judgements
from trivium.kvqae.retrieval.systems import write_brought_runs

# Their articles stand in another order than ours, and there is one more.
ROWS = [
    ("Orla Dane", "Orla Dane was an engineer, born in Port Vell.", 7),
    ("Orla Dane", "She built\na bridge.", 7),
    ("Orla Dane", "She died.", 7),
    ("Iron Span", "The bridge crosses the Vell.", 8),
    ("Iron Span", "It is old.", 8),
    ("Iron Span", "It was built in 1911.", 8),
    ("Iron Span", "It rusts.", 8),
    ("Iron Span", "It will fall.", 8),
    ("Iron Span", "Nobody minds.", 8),
    ("Iron Span", "It is made of iron.", 8),
    ("Extra", "One more.", 9),
]


def write_theirs(folder: Path, rows=ROWS) -> Path:
    folder.mkdir()
    for part in range(2):
        own = rows[6 * part : 6 * part + 6]
        table = {"passage": [f"{title} [SEP] {text}" for title, text, _ in own], "index": [index for *_, index in own]}
        pq.write_table(pa.table(table), folder / f"train-{part:05}-of-00002.parquet")
    return folder


@pytest.fixture
def world(tmp_path):
    """Ours, cut again with their passages in the place of ours; returns the counts."""
    write_wikipedia(tmp_path)
    write_questions(tmp_path)
    (tmp_path / "brought").mkdir()
    return tmp_path


def take_theirs(world, rows=ROWS):
    parameters = PassagesParameters(words=40, shard_size=3, brought=write_theirs(world / "theirs", rows))
    paths = {"articles": world / "wiki/articles.parquet", "out": world / "wiki/passages.parquet"}
    return write_passages(parameters, LocalEngine(1), **paths, work=world / "work")


def test_their_passages_are_those_of_our_articles(world):
    counts = take_theirs(world)
    table = read_table(world / "wiki/passages.parquet")
    ours = table.slice(0, 10).to_pylist()
    assert [(row["article"], row["position"], row["brought_row"]) for row in ours] == [
        *((0, position, 3 + position) for position in range(7)),
        *((1, position, position) for position in range(3)),
    ]
    assert [row["text"] for row in ours] == [ROWS[row["brought_row"]][1] for row in ours]
    assert table["passage"].to_pylist() == list(range(len(table)))
    # Articles without an image are cut here, as ever: TriviaQA's questions are asked of all.
    assert set(table.slice(10)["article"].to_pylist()) == {2, 3}
    assert table.slice(10)["brought_row"].null_count == len(table) - 10
    assert knowledge_base_size(world / "wiki") == 10
    assert counts == {
        "passages": len(table), "kb_passages": 10, "passages_per_article": len(table) / 4, "brought": 11,
        "brought_without_article": 1, "kb_passages_cut_here": 0,
    }  # fmt: skip


def test_an_article_that_they_lack_is_cut_here(world):
    counts = take_theirs(world, ROWS[3:-1])
    rows = read_table(world / "wiki/passages.parquet").slice(0, counts["kb_passages"]).to_pylist()
    assert [row["brought_row"] for row in rows if row["article"] == 0] == list(range(7))
    assert {row["brought_row"] for row in rows if row["article"] == 1} == {None}
    assert counts["kb_passages_cut_here"] == sum(row["article"] == 1 for row in rows) > 0


def test_runs_and_judgements_by_their_rows(world):
    take_theirs(world)
    (world / "brought/bm25.trec").write_text("test-v2 Q0 1 0 9 t\ntest-v2 Q0 4 1 8 t\ntest-v2 Q0 0 2 7 t\n")
    paths = {"questions": world / "viquae", "kb": world / "wiki"}
    write_brought_runs(**paths, brought=world / "brought", depth=100, out=world / "runs")
    assert read_run(world / "runs/brought_bm25/test.trec").documents.tolist() == [[8, 1, 7]]
    asked = list(read_questions(world / "viquae/test.jsonl"))
    (world / "all_qrels.trec").write_text("test-v2 0 0 1\ntest-v1 0 3 1\n")
    qrels, counts = brought_judgements(world / "all_qrels.trec", asked, world / "wiki")
    assert dict(zip(qrels.queries, [ids.tolist() for ids in qrels.relevant], strict=True)) == {
        "test-v1": [0], "test-v2": [7], "test-v3": [],
    }  # fmt: skip
    assert counts == {"questions_unjudged": 1, "judged_without_article": 0}
    (world / "all_qrels.trec").write_text("test-v2 0 0 0\n")  # judged, and nothing is relevant
    nothing, counts = brought_judgements(world / "all_qrels.trec", asked, world / "wiki")
    assert ([len(ids) for ids in nothing.relevant], counts["questions_unjudged"]) == ([0, 0, 0], 2)
    train = list(read_questions(world / "viquae/train.jsonl"))
    assert brought_judgements(world / "all_qrels.trec", train, world / "wiki") is None
    # Rows of a set in another order, such as viquae_v4-alpha_passages, hold no answer.
    (world / "all_qrels.trec").write_text("test-v2 0 5 1\ntest-v1 0 9 1\n")
    with pytest.raises(
        BadInput, match=r"rows are of another set of passages; got '0 of 2 hold one'; expected at least"
    ):
        brought_judgements(world / "all_qrels.trec", asked, world / "wiki")
    (world / "all_qrels.trec").write_text("test-v2 0 11 1\n")
    with pytest.raises(BadInput, match=r"no such passage; got 11; expected below 11"):
        brought_judgements(world / "all_qrels.trec", asked, world / "wiki")
