"""Stage complexity-judgements: tasks out, judgements in, κ and shares of correct answers on paper."""

import csv
import json

import pytest

from stages.complexity.judgements import main
from tests.complexity.judging.test_label_studio import annotation
from tests.complexity.scored_world import answer, write_world
from tests.stages.complexity.test_score import run as score
from trivium.complexity.judging import JudgementsParameters
from trivium.core.tables import read_json, read_table

SMALL = ["L’armée belge", "Ypres", "", "Brême", "Férié", "rien", "Un évêque", "la cité"]
LARGE = ["L’armée", "Ypres", "La flotte", "Brême", "Férié", "tout", "Un évêque", ""]


@pytest.fixture
def world(tmp_path):
    examples = write_world(tmp_path)
    answer(tmp_path, "predictions/small/seed-3.jsonl", SMALL)
    answer(tmp_path, "predictions/small/seed-9.jsonl", ["autre"] * 8)  # a second seed is not judged
    answer(tmp_path, "brought/large.jsonl", LARGE)
    rescore(tmp_path)
    return examples


def rescore(folder):
    score(folder, run=("small",), readers={"small": "extractive"}, seeds=(3, 9), prompted=())


def run(folder, **changes):
    keys = {"questions": 100, "show_reference": True, "confidence": 0.9, "resamples": 200, "seed": 0}
    return main(
        JudgementsParameters(**keys | changes),
        questions=folder / "questions.jsonl",
        texts=folder / "texts.jsonl",
        scores=folder / "scores.parquet",
        brought=folder / "judgements",
        out=folder / "judgements.parquet",
        out_label_studio=folder / "label_studio",
        out_frames=folder / "frame_judgements.csv",
    )


def tasks_of(folder):
    return read_json(folder / "label_studio" / "tasks.json")


def label(folder, verdicts, file="export.json"):
    """Export as Label Studio would: verdict of each annotator by (question, answer)."""
    tasks = []
    for number, made in enumerate(tasks_of(folder), 1):
        found = verdicts.get((made["data"]["id"], made["data"]["answer"]), {})
        annotations = [annotation(verdict, {"id": 1, "email": name}) for name, verdict in found.items()]
        tasks.append({"id": number, **made, "annotations": annotations})
    (folder / "judgements" / file).write_text(json.dumps(tasks), "utf-8")


def write_csv(folder, *lines, header="id,model,annotator,verdict"):
    (folder / "judgements" / "more.csv").write_text("\n".join([header, *lines, ""]), "utf-8")


def test_tasks_are_the_distinct_answers_without_the_models(tmp_path, world):
    metrics = run(tmp_path)
    tasks = [made["data"] for made in tasks_of(tmp_path)]
    pairs = {(each["id"], each["answer"]) for each in tasks}
    expected = {(f"q{number}", text) for each in (SMALL, LARGE) for number, text in enumerate(each) if text}
    assert pairs == expected
    assert len(tasks) == len(expected) == metrics["tasks"] == 10
    by_id = {each.id: each for each in world}
    for each in tasks:
        example = by_id[each["id"]]
        assert (each["document"], each["question"]) == (example.text.text, example.question)
        assert each["reference"] == example.answer_text
    written = (tmp_path / "label_studio/tasks.json").read_text("utf-8")
    assert "small" not in written
    assert "large" not in written
    assert [each["id"] for each in tasks] != sorted(each["id"] for each in tasks)


def test_majority_kappa_and_shares(tmp_path, world):
    run(tmp_path)
    verdicts = {
        ("q0", "L’armée belge"): {"a": "correct", "b": "correct", "c": "correct"},
        ("q0", "L’armée"): {"a": "correct", "b": "partial"},  # one of two is no majority
        ("q1", "Ypres"): {"a": "correct", "b": "correct", "c": "incorrect"},  # of both models
        ("q2", "La flotte"): {"a": "partial", "b": "partial"},
        ("q5", "tout"): {"a": "incorrect"},
    }
    label(tmp_path, verdicts)
    metrics = run(tmp_path)
    # small: q0 yes, q1 yes, q2 empty, q5 unjudged. large: q0 no, q1 yes, q2 no, q5 no.
    assert (metrics["small_judged"], metrics["small_correct"]) == (3, pytest.approx(2 / 3))
    assert (metrics["large_judged"], metrics["large_correct"]) == (4, pytest.approx(1 / 4))
    assert metrics["small_correct_low"] <= 2 / 3 <= metrics["small_correct_high"]
    assert (metrics["judgements"], metrics["annotators"], metrics["items"]) == (11, 3, 5)
    assert (metrics["unjudged_tasks"], metrics["items_of_one_annotator"], metrics["stale"]) == (5, 1, 0)
    # P = (1 + 0 + 1/3 + 1) / 4; shares of correct (1 + 1/2 + 2/3 + 0) / 4, partial (1/2 + 1) / 4, incorrect (1/3) / 4.
    observed, shares = 7 / 12, (13 / 24, 9 / 24, 2 / 24)
    expected = sum(share**2 for share in shares)
    assert metrics["kappa"] == pytest.approx((observed - expected) / (1 - expected))
    with (tmp_path / "frame_judgements.csv").open(encoding="utf-8") as file:
        rows = {(line["model"], line["frame"]): (line["judged"], line["correct"]) for line in csv.DictReader(file)}
    assert rows["small", "Attack"] == ("3", str(2 / 3))
    assert rows["large", "Losing"] == ("1", "0.0")
    table = read_table(tmp_path / "judgements.parquet").to_pylist()
    assert len(table) == 11 + 3  # Ypres is an answer of two models
    assert {(row["model"], row["annotator"], row["verdict"]) for row in table if row["id"] == "q1"} == {
        (model, name, verdict) for model in ("small", "large") for name, verdict in verdicts["q1", "Ypres"].items()
    }


def test_judgements_of_former_answers_are_stale(tmp_path, world):
    run(tmp_path)
    label(tmp_path, {("q0", "L’armée belge"): {"a": "correct"}, ("q1", "Ypres"): {"a": "correct"}})
    write_csv(
        tmp_path,
        'q4,small,z,correct,"Férié"',
        "q6,small,z,correct,Un évêque",
        header="id,model,annotator,verdict,prediction",
    )
    answer(tmp_path, "predictions/small/seed-3.jsonl", ["Le roi", *SMALL[1:4], "un autre", *SMALL[5:]])
    rescore(tmp_path)
    metrics = run(tmp_path)
    assert metrics["stale"] == 2
    assert metrics["judgements"] == 2
    assert metrics["small_judged"] == 2
