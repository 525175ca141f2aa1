"""Stage complexity-partition: who is in which part, on six questions."""

import csv

import numpy as np
import pyarrow as pa
import pytest

from stages.complexity.partition import PartitionParameters, main
from tests.complexity.analysis_world import write_factors, write_scores
from tests.complexity.factor_world import EXAMPLES, TEXTS, TRAINING
from tests.complexity.paper_factors import FACTORS
from trivium.complexity.effects.analysed_tables import FactorTable
from trivium.complexity.partitions import chosen_factors
from trivium.core.tables import write_table
from trivium.formats.frame_corpora import write_examples, write_texts
from trivium.formats.squad import read_squad

#             q0 q1 q2 q3 q4 q5
CODES = {
    "f4": [0, 0, -1, 0, 1, -1],
    "f5": [0, 0, 1, 1, 1, 1],
    "f6": [1, 0, 0, 0, 1, -1],
}
SCORES = {
    ("big", "extractive", 0): np.array([0.5, 1.0, 0.6, 0.7, 0.3, 0.2]),
    ("small", "seq2seq", 0): np.array([0.4, 0.8, 0.5, 0.3, 0.1, 0.6]),
    ("shout", "baseline", -1): np.zeros(6),
}


def table():
    return FactorTable(
        ids=tuple(each.id for each in EXAMPLES),
        texts=np.array([each.text.id for each in EXAMPLES]),
        frames=np.array([each.frame.frame for each in EXAMPLES]),
        elements=np.array([each.answer_element for each in EXAMPLES]),
        names=FACTORS,
        factors=np.array([CODES.get(name, [0] * 6) for name in FACTORS], dtype=np.int8),
    )


def write_effects(path, validated):
    """`validated` by model and factor; the others are not."""
    rows = [
        {"model": model, "factor": factor, "validated": factor in names}
        for model, names in validated.items()
        for factor in FACTORS
    ]
    write_table(path, pa.Table.from_pylist(rows))


@pytest.fixture
def world(tmp_path):
    write_texts(tmp_path / "texts.jsonl", TEXTS)
    write_texts(tmp_path / "training.jsonl", TRAINING)
    write_examples(tmp_path / "questions.jsonl", EXAMPLES)
    write_factors(tmp_path / "factors.parquet", table())
    write_scores(tmp_path / "scores.parquet", table().ids, SCORES)
    write_effects(tmp_path / "effects.parquet", {"big": ["f5", "f6", "f4"], "small": ["f5", "f6"]})
    return tmp_path


def run(folder, majority=0.5):
    metrics = main(
        PartitionParameters(measure="rouge_l", majority=majority, source="sample", world_seed=3, parser="conllu"),
        questions=folder / "questions.jsonl",
        texts=folder / "texts.jsonl",
        training=folder / "training.jsonl",
        factors=folder / "factors.parquet",
        scores=folder / "scores.parquet",
        effects=folder / "effects.parquet",
        out=folder / "partitions",
        out_curves=folder / "partitions.csv",
        out_frames=folder / "frames.csv",
    )
    with (folder / "partitions.csv").open() as lines:
        return metrics, list(csv.DictReader(lines))


def members(folder, name):
    return [question.id for question in read_squad(folder / "partitions" / name / "data.json").questions]


def test_parts_by_how_many_factors_hold(world):
    metrics, rows = run(world)
    # f5 and f6 hold for both models, f4 for one of two. q5 is in neither set of f6, which then does not hold.
    assert members(world, "holding-0") == ["q1"]
    assert members(world, "holding-1") == ["q0", "q2", "q3", "q5"]
    assert members(world, "holding-2") == ["q4"]
    assert members(world, "f5-no") == ["q0", "q1"]
    assert members(world, "f6-yes") == ["q0", "q4"]
    assert members(world, "f4-yes") == ["q4"]
    assert members(world, "f4-no") == ["q0", "q1", "q3"]
    assert not (world / "partitions" / "f1-yes").exists()  # holds for nobody
    assert (metrics["fallback"], metrics["factors"], metrics["uses_f4"]) == (0, 2, 0)
    assert metrics["models_falling"] == 2
    assert (metrics["partitions"], metrics["partitions_without_examples"]) == (13, 4)  # f0 to f3 hold for nobody
    assert metrics["holding-1_examples"] == 4
    assert metrics["holding-1_score"] == pytest.approx((2.0 / 4 + 1.8 / 4) / 2)
    curve = {row["level"]: row for row in rows if row["kind"] == "count" and row["model"] == "small"}
    assert [curve[level]["rank"] for level in "012"] == ["1", "2", "3"]
    assert float(curve["2"]["score"]) == pytest.approx(0.1)
    assert float(curve["1"]["share"]) == pytest.approx(4 / 6)
    assert {row["model"] for row in rows} == {"big", "small", "mean"}


def test_a_part_is_the_question_as_it_was(world):
    run(world)
    (question,) = read_squad(world / "partitions" / "holding-0" / "data.json").questions
    example = EXAMPLES[1]
    assert (question.context, question.question) == (example.text.text, example.question)
    assert question.answers == ((example.answer_text, example.answer.start),)


def test_majority_is_more_than_a_share(world):
    assert chosen_factors(world / "effects.parquet", FACTORS, 0.5) == ("f5", "f6")
    assert chosen_factors(world / "effects.parquet", FACTORS, 0.4) == ("f4", "f5", "f6")
    metrics, _ = run(world, majority=0.4)
    assert metrics["factors"] == 3
    assert members(world, "holding-3") == ["q4"]


def test_without_a_validated_factor_the_papers_two_stand_in(world):
    write_effects(world / "effects.parquet", {"big": ["f1"], "small": []})
    metrics, _ = run(world)
    assert (metrics["fallback"], metrics["uses_f5"], metrics["uses_f6"]) == (1, 1, 1)
    assert members(world, "holding-2") == ["q4"]
    card = (world / "partitions" / "holding-2" / "README.md").read_text()
    assert "those of the paper: here none makes most models worse" in card
    assert "were chosen" not in card


def test_frames_with_their_triggers(world):
    run(world)
    with (world / "frames.csv").open() as lines:
        rows = {row["frame"]: row for row in csv.DictReader(lines)}
    siege = rows["Besieging"]
    assert (siege["examples"], siege["occurrences"], siege["triggers"]) == ("3", "3", "2")
    assert float(siege["entropy"]) == pytest.approx(0.9182958)
    assert (siege["core_elements"], siege["other_elements"]) == ("2", "1")
    assert float(siege["elements"]) == pytest.approx(8 / 3)
    assert float(siege["big"]) == pytest.approx(1.8 / 3)
    assert float(siege["mean"]) == pytest.approx((1.8 + 1.3) / 6)
    assert (rows["Falling"]["occurrences"], rows["Falling"]["entropy"]) == ("0", "")
    assert [row["mean"] for row in rows.values()] == sorted((row["mean"] for row in rows.values()), key=float)
