"""Answers in every form: the same answers come out, whatever else is refused in a line."""

import json
from pathlib import Path

import pytest

from trivium.core.errors import BadInput
from trivium.formats.answer_files import model_names, read_answers, read_predictions, write_predictions

IDS = ("q1", "q2", "q3")
ANSWERS = {"q1": "a king", "q2": ""}


def lines(records):
    return "".join(json.dumps(record) + "\n" for record in records)


def sample(identifier, *responses, **more):
    """A record of lm-evaluation-harness."""
    return {"doc_id": 0, "doc": {"id": identifier, "question": "?"}, "target": "x", "arguments": [],
            "resps": [[each] for each in responses], "filtered_resps": list(responses), **more}  # fmt: skip


FORMS = {
    "lines of id and prediction": lines({"id": key, "prediction": text} for key, text in ANSWERS.items()),
    "SQuAD’s {id: answer}": json.dumps(ANSWERS),
    "Hugging Face’s prediction_text": json.dumps(
        [{"id": key, "prediction_text": text, "no_answer_probability": 0.1} for key, text in ANSWERS.items()]
    ),
    "lm-evaluation-harness’ samples": lines(sample(key, text, [-3.5, False]) for key, text in ANSWERS.items()),
    "KILT’s lines": lines(
        {"id": key, "input": "?", "output": [{"provenance": []}, {"answer": text, "meta": {}}, {"answer": "b"}]}
        for key, text in ANSWERS.items()
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_has_the_same_answers(tmp_path, form):
    path = tmp_path / "m.json"
    path.write_text(FORMS[form], "utf-8")
    read = read_answers(path, IDS)
    assert (read.answers, read.unknown, read.note) == (ANSWERS, (), "")


def test_lines_and_lists_are_alike_and_one_line_is_enough(tmp_path):
    path = tmp_path / "m.jsonl"
    path.write_text(lines([{"id": 7, "prediction_text": "x"}]), "utf-8")
    assert read_answers(path, ["7"]).answers == {"7": "x"}
    path.write_text(json.dumps([sample("q1", "x")]), "utf-8")
    assert read_answers(path, IDS).answers == {"q1": "x"}
    path.write_text(json.dumps(ANSWERS, indent=1), "utf-8")
    assert read_answers(path, IDS).answers == ANSWERS


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (json.dumps({f"question {number}": {"a": 1} for number in range(3000)}), "field \"'question 0'\": not a text"),
        (
            json.dumps({"x": "a", "y": "b"}),
            r"no answer to any of the questions; got \['x', 'y'\]; expected ids such as",
        ),
        (
            lines([{"id": "q1", "prediction": "a"}] * 2),
            r"m\.json:2: .*second answer to one question, the first in row 1",
        ),
        (lines([{"id": "q1", "prediction": "a"}, {"id": "q2"}]), r"m\.json:2: field 'prediction': missing"),
        (json.dumps([{"id": "q1", "answer": "a"}]), r"no field with an answer.*choices: prediction, prediction_text"),
        (lines([sample("q1")]), "no response"),
        (
            lines([sample("q1", "a", filter="none"), sample("q1", "b", filter="strict")]),
            "second answer to one question",
        ),
        ('{"id": "q1", "prediction": "a"}\n3', r"m\.json:2: not a JSON object; got 3"),
    ],
)
def test_other_files_are_refused_in_short(tmp_path, content, message):
    path = tmp_path / "m.json"
    path.write_text(content, "utf-8")
    with pytest.raises(BadInput, match=message) as error:
        read_answers(path, IDS)
    assert len(str(error.value)) < 500


def test_files_name_their_models(tmp_path):
    files = ["a/mt5.json", "camembert/seed-0.jsonl", "org__llama/samples_squad_2025.jsonl", "big=a/x.json"]
    assert list(model_names(files)) == ["mt5", "camembert", "org__llama", "big"]
    assert model_names(files)["big"] == [Path("a/x.json")]
    trainings = ["t5/seed-0.jsonl", "t5/seed-1.jsonl", "mt5=x.json", "mt5=y/z.json"]
    paths = [Path("t5/seed-0.jsonl"), Path("t5/seed-1.jsonl")], [Path("x.json"), Path("y/z.json")]
    assert list(model_names(trainings).values()) == list(paths)
    for files in (["a/t5/seed-0.jsonl", "b/t5/seed-0.jsonl"], ["m=x.json", "m=x.json"], ["m=x.json", "m.json"]):
        with pytest.raises(BadInput, match="two files of one model"):
            model_names(files)
    with pytest.raises(BadInput, match="two files of one model; got 'mt5'"):
        model_names(["a/mt5.json", "b/mt5.jsonl"])
    (tmp_path / "a=b.json").touch()
    assert list(model_names([tmp_path / "a=b.json"])) == ["a=b"]


@pytest.mark.parametrize(
    "tree",
    [
        {"q1": [{"text": "a", "probability": 0.9}, {"text": "b"}], "q2": "b", "q3": None},
        {"predictions": [{"id": "q1", "prediction_text": "a"}, {"id": "q2", "prediction_text": "b"},
                         {"id": "q3", "prediction_text": None}]},
    ],
)  # fmt: skip
def test_lists_of_best_answers_and_answers_that_are_null(tree, tmp_path):
    (tmp_path / "m.json").write_text(json.dumps(tree))
    read = read_answers(tmp_path / "m.json", ["q1", "q2", "q3"])
    assert read.answers == {"q1": "a", "q2": "b"}
    assert read.note == "answers that are null, and count as missing: 1"


def test_a_sample_without_id_is_found_by_question_and_context(tmp_path):
    record = {"doc": {"question": "Who?", "context": "Ada."}, "filtered_resps": ["Ada"], "filter": "none"}
    (tmp_path / "samples.jsonl").write_text(
        json.dumps(record) + "\n" + json.dumps(record | {"doc": {"id": "q2"}}) + "\n"
    )
    read = read_answers(tmp_path / "samples.jsonl", ["q1", "q2"], {("Who?", "Ada."): "q1"})
    assert read.answers == {"q1": "Ada", "q2": "Ada"}
    with pytest.raises(BadInput, match="samples.jsonl:1: field 'doc': no id, and no question of the set has"):
        read_answers(tmp_path / "samples.jsonl", ["q1", "q2"])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"q1": "a", "q2": "b", "q1": "c"}', "second answer to one question"),
        (json.dumps({"q1": [{"answer": "a"}]}), r"'q1'.*not a text; got \[{'answer': 'a'}\].*n-best"),
        (json.dumps({"q1": ["a"]}), r"not a text; got \['a'\]"),
        (json.dumps({"q1": None, "q2": None}), "no answer to any of the questions; got '2 answers that are null'"),
        (lines([sample("q1", ["-1.5", "True"])]), "a likelihood, no answer"),
    ],
)
def test_what_would_be_scored_wrong_is_refused(tmp_path, content, message):
    (tmp_path / "m.json").write_text(content, "utf-8")
    with pytest.raises(BadInput, match=message):
        read_answers(tmp_path / "m.json", IDS)


def test_a_null_of_kilt_is_missing_and_written_out_dictionaries_are_said(tmp_path):
    path = tmp_path / "m.jsonl"
    path.write_text(lines([{"id": "q1", "output": [{"answer": None}]}, {"id": "q2", "output": [{"answer": "a"}]}]))
    assert read_answers(path, IDS).answers == {"q2": "a"}
    path.write_text(lines([{"id": "q1", "prediction": "{'text': 'a'}"}, {"id": "q2", "prediction": "a"}]))
    assert read_answers(path, IDS).note.endswith("of a dictionary or list, and are scored as such: 1")


def test_a_model_without_a_name_has_that_of_its_file():
    assert list(model_names(["=a/mt5.json"])) == ["mt5"]


def test_round_trip_keeps_text_and_takes_the_order_of_the_questions(tmp_path):
    answers = {"q2": "l’été\u00a0 «où»\n", "q1": ' "x" '}
    write_predictions(tmp_path / "m.jsonl", answers)
    read = read_predictions(tmp_path / "m.jsonl", ["q1", "q2"])
    assert list(read.answers.items()) == [("q1", ' "x" '), ("q2", "l’été\u00a0 «où»\n")]
    assert (read.missing, read.unknown, read.empty) == (0, 0, 0)


def test_missing_unknown_and_empty_are_counted(tmp_path, capsys):
    path, given = tmp_path / "m.jsonl", {"q1": " \u00a0", "x": "", "q3": "ça", "y": "b"}
    path.write_text(lines({"id": key, "prediction": text, "score": 1} for key, text in given.items()), "utf-8")
    read = read_predictions(path, ["q1", "q2", "q3"])
    assert read.answers == {"q1": " \u00a0", "q2": "", "q3": "ça"}
    assert (read.missing, read.unknown, read.empty) == (1, 2, 1)
    assert "m.jsonl: 2 answers to unknown questions left out: 'x', 'y'\n" in capsys.readouterr().out
