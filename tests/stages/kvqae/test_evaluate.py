import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from stages.kvqae import evaluate
from stages.kvqae.evaluate import TablesParameters, main
from trivium.core.tables import read_json, write_table
from trivium.formats.trec import write_qrels, write_run
from trivium.kvqae.retrieval.evaluation import blocks_of
from trivium.measures.runs import Qrels, Run

PARAMETERS = TablesParameters(
    text_encoders={"dpr_zero_shot": {}, "dpr_few_shot": {}},
    image_encoders={name: {} for name in ("arcface", "imagenet", "clip")},
    significance=0.01,
    permutations=1000,
    confidence=0.95,
    resamples=200,
    seed=0,
)
QUESTIONS = [f"q{number}" for number in range(12)]  # even: a face; below 8: persons


def write_tables(parameters, **files):
    return main(parameters, **files)


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Passage 2q is relevant to question q and its article is q; the fused rows find it first, all others last."""
    monkeypatch.setattr(evaluate, "write_overlaps", lambda *_, **__: {})
    relevant = tuple(np.array([2 * number]) for number in range(12))
    write_qrels(tmp_path / "test_passage.qrels", Qrels(tuple(QUESTIONS), relevant))
    write_qrels(tmp_path / "test_article.qrels", Qrels(tuple(QUESTIONS), tuple(ids // 2 for ids in relevant)))
    write_table(tmp_path / "wiki/passages.parquet", pa.table({"article": [passage // 2 for passage in range(24)]}))
    pq.write_table(
        pa.table(
            {
                "question": QUESTIONS,
                "face": [number % 2 == 0 for number in range(12)],
                "human": [number < 8 for number in range(12)],
            }
        ),
        tmp_path / "routing.parquet",
    )
    for row in blocks_of([])["passage"].rows:
        best = row == "dpr_few_shot_image"
        lists = {
            question: {2 * number: 3.0 if best else 1.0, (2 * number + 5) % 24: 2.0}
            for number, question in enumerate(QUESTIONS)
        }
        write_run(tmp_path / row / "test.trec", Run.from_dict(lists, depth=2, name=row))
    (tmp_path / "brought").mkdir()
    run = Run.from_dict({"q0": {0: 1.0}}, depth=1)
    write_run(tmp_path / "image" / "test.trec", run)
    for row in ("arcface", "imagenet", "clip"):
        write_run(tmp_path / row / "test_articles.trec", run)
    return {
        "text_runs": tmp_path,
        "image_runs": tmp_path,
        "brought": tmp_path / "brought",
        "fused": tmp_path,
        "relevance": tmp_path,
        "kb": tmp_path / "wiki",
        "routing": tmp_path / "routing.parquet",
        "out_tables": tmp_path / "tables.json",
        "out_per_query": tmp_path / "per_query.parquet",
        "out_overlap_counts": tmp_path / "overlaps.json",
    }


def test_rows_subsets_and_letters(files):
    metrics = write_tables(PARAMETERS, **files)
    assert metrics["all_questions"] == 12
    assert (metrics["face_questions"], metrics["persons_questions"]) == (6, 8)
    assert metrics["passage_dpr_few_shot_image_mrr"] == 1.0
    assert metrics["passage_bm25_mrr"] == 1 / 2
    assert metrics["passage_bm25_precision@20"] == pytest.approx(1 / 20)
    # ArcFace answered one of the six questions with a face; the others count as 0.
    assert metrics["article_face_arcface_mrr"] == pytest.approx(1 / 6)
    assert metrics["article_no_face_clip_hits@20"] == 0
    # All twelve differences have the same sign: p = 2 / 2^12 would be exact, here it is drawn.
    assert metrics["passage_fused_over_best_text_mrr_p"] == pytest.approx(2 / 2**12, abs=0.005)
    rows = {row["name"]: row for row in read_json(files["out_tables"])["passage"]["rows"]}
    assert rows["dpr_few_shot_image"]["better_than"]["mrr"] == "abcdeghi"
    assert rows["dpr_few_shot_image"]["better_than"]["hits@20"] == ""
    assert rows["bm25"]["better_than"]["mrr"] == ""
