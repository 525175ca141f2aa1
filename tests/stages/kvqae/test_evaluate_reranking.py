"""Tables 5 and 6 on twelve questions: rows, subsets and overlap lists."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from stages.kvqae.evaluate_reranking import main
from tests.stages.kvqae.test_image_search import write_questions
from trivium.core.tables import read_json, write_table
from trivium.formats.trec import write_qrels, write_run
from trivium.kvqae.rerankers.evaluation import RerankingTablesParameters
from trivium.measures.runs import Qrels, Run

PARAMETERS = RerankingTablesParameters(
    rerankers={name: {} for name in ("text", "arcface", "rrt")},
    significance=0.01,
    permutations=1000,
    confidence=0.95,
    resamples=200,
    seed=0,
)
QUESTIONS = [f"q{number}" for number in range(12)]  # even: a face; below 8: persons; question n is about Qn+1
# Rank of the relevant passage 2q among 2q, 2q + 1 and (2q + 5) % 24, the first two of which are article q.
RANKS = {
    "initial": 3,
    "text": 2,
    "rrt": 3,
    "arcface": 2,
    "image": 1,
    "text_image": 1,
    "text_initial": 2,
    "text_image_initial": 1,
    "bm25_image": 3,
}


@pytest.fixture
def files(tmp_path):
    relevant = tuple(np.array([2 * number]) for number in range(12))
    write_qrels(tmp_path / "test_passage.qrels", Qrels(tuple(QUESTIONS), relevant))
    write_qrels(tmp_path / "test_article.qrels", Qrels(tuple(QUESTIONS), tuple(ids // 2 for ids in relevant)))
    write_table(tmp_path / "wiki/passages.parquet", pa.table({"article": [passage // 2 for passage in range(24)]}))
    routing = {
        "question": QUESTIONS,
        "face": [number % 2 == 0 for number in range(12)],
        "human": [number < 8 for number in range(12)],
    }
    pq.write_table(pa.table(routing), tmp_path / "routing.parquet")
    write_questions(tmp_path / "test.jsonl", {f"q{n}": ("a.jpg", f"Q{n + 1}") for n in range(12)})
    for row, rank in RANKS.items():
        served = range(0, 12, 2) if row == "arcface" else range(12)
        lists = {}
        for number in served:
            order = [(2 * number + 5) % 24, 2 * number + 1]
            order.insert(rank - 1, 2 * number)
            lists[f"q{number}"] = {passage: 3.0 - place for place, passage in enumerate(order)}
        folder = {"image": "reranked_image_alone"}.get(row, f"reranked_{row}" if row.startswith("text_") else row)
        write_run(tmp_path / folder / "test.trec", Run.from_dict(lists, name=row))
    (tmp_path / "brought").mkdir()
    for folder, name, entities in (("base", "overlap/identities.txt", [1, 2, 3, 40]), ("rrt", "landmarks.txt", [9])):
        path = tmp_path / f"{folder}_model" / name
        path.parent.mkdir(parents=True)
        path.write_text("".join(f"Q{entity}\n" for entity in entities))
    (tmp_path / "rrt_model" / "config.json").write_text('{"layers": 2}')
    return {
        **{row: tmp_path / row / "test.trec" for row in ("initial", "bm25_image")},
        "reranked": tmp_path,
        "fused": tmp_path,
        "brought": tmp_path / "brought",
        "relevance": tmp_path,
        "kb": tmp_path / "wiki",
        "questions": tmp_path / "test.jsonl",
        "routing": tmp_path / "routing.parquet",
        "identities": tmp_path / "base_model",
        "landmarks": tmp_path / "rrt_model",
        "out_tables": tmp_path / "tables.json",
        "out_per_query": tmp_path / "per_query.parquet",
    }


def rows_of(files):
    return {key: [row["name"] for row in block["rows"]] for key, block in read_json(files["out_tables"]).items()}


def test_tables_5_and_6(files):
    metrics = main(PARAMETERS, **files)
    assert metrics["rrt_left_out"] == 0
    assert metrics["passage_initial_mrr"] == pytest.approx(1 / 3)
    assert metrics["passage_text_mrr"] == 1 / 2
    assert metrics["passage_text_image_precision@1"] == 1
    assert metrics["passage_text_image_precision@20"] == pytest.approx(1 / 20)
    # At article level passages 2q and 2q + 1 are one: RRT has it second, the others first or, ArcFace, second.
    assert metrics["article_rrt_mrr"] == 1 / 2
    assert metrics["article_face_arcface_mrr"] == 1 / 2
    assert metrics["article_face_image_mrr"] == metrics["article_image_mrr"] == 1
    assert metrics["article_face_image_over_arcface_mrr_difference"] == 1 / 2
    # Twelve equal differences: p = 2 / 2^12 would be exact, here it is drawn; six: 2 / 2^6.
    assert metrics["passage_text_over_initial_mrr_p"] == pytest.approx(2 / 2**12, abs=0.005)
    assert metrics["article_face_image_over_rrt_mrr_p"] == pytest.approx(2 / 2**6, abs=0.02)
    tables = read_json(files["out_tables"])
    letters = {row["name"]: row["better_than"]["mrr"] for row in tables["passage"]["rows"]}
    assert letters == {
        "initial": "",
        "text": "a",
        "text_image": "abd",
        "text_initial": "a",
        "text_image_initial": "abd",
    }
    assert (tables["article_face"]["questions"], tables["article"]["questions"]) == (6, 12)


def test_without_a_list_there_is_no_split(files):
    (files["identities"] / "overlap" / "identities.txt").unlink()
    metrics = main(PARAMETERS, **files)
    assert (metrics["identities_listed"], metrics["landmarks_listed"]) == (0, 1)
    assert "persons_known" not in rows_of(files)
    assert "landmarks_known" in rows_of(files)
    (files["landmarks"] / "landmarks.txt").write_text("# nobody\n")
    metrics = main(PARAMETERS, **files)
    assert (metrics["landmarks_listed"], metrics["landmarks_known_questions"]) == (1, 0)
    assert {"landmarks_unknown"} == {name for name in rows_of(files) if name.startswith("landmarks")}


def test_a_reranker_that_is_not_in_use_or_left_out_has_no_row(files):
    main(PARAMETERS.model_copy(update={"rerankers": {"arcface": {}}}), **files)
    assert not {"text", "rrt"} & {row for rows in rows_of(files).values() for row in rows}
    assert rows_of(files)["persons_known"] == ["bm25_image", "initial", "image", "text_image"]
    (files["landmarks"] / "config.json").write_text('{"use": false}')
    assert main(PARAMETERS, **files)["rrt_left_out"] == 1
    assert rows_of(files)["landmarks_known"] == ["initial", "image", "text", "text_image"]
