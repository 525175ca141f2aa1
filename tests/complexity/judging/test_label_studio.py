"""Label Studio: the configuration is sound XML, tasks carry any text, exports are read or refused by row and field."""

import json

import pytest
from defusedxml import ElementTree

from trivium.complexity.judging import VERDICTS, answer_code, labelling_config, make_task, read_judgements
from trivium.core.errors import BadInput

HOSTILE = '<script>alert(1)</script> & "l\'or" $question ]]> \u202e\n{{x}}'


def annotation(verdict="correct", annotator=1, **changes):
    part = {"from_name": "verdict", "to_name": "answer", "type": "choices", "value": {"choices": [verdict]}}
    return {"id": 7, "completed_by": annotator, "was_cancelled": False, "result": [part], **changes}


def exported(*annotations, identifier="q1", answer="Lens"):
    made = make_task(identifier, "Texte.", "Où ?", answer, None)
    return {"id": 12, **made, "annotations": list(annotations), "predictions": []}


def write(path, tasks):
    path.write_text(json.dumps(tasks), "utf-8")
    return path


@pytest.mark.parametrize("show_reference", [True, False])
def test_configuration_shows_what_tasks_hold_and_asks_for_one_verdict(show_reference):
    root = ElementTree.fromstring(labelling_config(show_reference=show_reference))
    shown = {text.get("value") for text in root.iter("Text")}
    data = make_task("q1", "d", "q", "a", "r" if show_reference else None)["data"]
    assert shown == {f"${name}" for name in data if name not in ("id", "answer_id")}
    (choices,) = root.iter("Choices")
    assert choices.get("toName") in {text.get("name") for text in root.iter("Text")}
    assert (choices.get("choice"), choices.get("required")) == ("single-radio", "true")
    assert tuple(choice.get("value") for choice in choices) == VERDICTS


def test_hostile_texts_stay_data(tmp_path):
    made = make_task("q1", HOSTILE, HOSTILE, HOSTILE, HOSTILE)
    assert json.loads(json.dumps(made))["data"]["document"] == HOSTILE
    assert HOSTILE not in labelling_config(show_reference=True)
    path = write(tmp_path / "e.json", [exported(annotation(), answer=HOSTILE)])
    (judgement,) = read_judgements(path, {"q1"}, {"m": {"q1": HOSTILE}})[0]
    assert (judgement.item, judgement.annotator, judgement.verdict) == (answer_code("q1", HOSTILE), "1", "correct")


def test_the_code_names_question_and_answer_only():
    codes = {answer_code(*pair) for pair in [("q1", "a"), ("q1", "b"), ("q2", "a"), ("q1a", ""), ("q", "1a")]}
    assert len(codes) == 5
    assert answer_code("q1", "a") == "9105092a8ae12b7a", "the same in every process: exports wait for months"


def test_export_is_read(tmp_path):
    user = {"id": 3, "email": "anne@example.org", "first_name": "", "last_name": ""}
    tasks = [
        exported(annotation("partial", 1), annotation("correct", user)),
        exported(annotation(was_cancelled=True, result=[]), identifier="q2"),
        exported(identifier="q3"),
        exported(annotation("incorrect", {"id": 4}), identifier="q4"),
    ]
    # Another control of the user's, beside ours.
    tasks[3]["annotations"][0]["result"].append({"from_name": "note", "type": "textarea", "value": {"text": ["?"]}})
    answers = {"m": dict.fromkeys(("q1", "q2", "q3", "q4"), "Lens")}
    judgements, counts = read_judgements(write(tmp_path / "e.json", tasks), set(answers["m"]), answers)
    assert [(judgement.id, judgement.annotator, judgement.verdict) for judgement in judgements] == [
        ("q1", "1", "partial"),
        ("q1", "anne@example.org", "correct"),
        ("q4", "4", "incorrect"),
    ]
    assert counts == {"stale": 0, "unjudged_tasks": 2, "skipped_annotations": 1}


@pytest.mark.parametrize("identifier", [None, 5, ["q1"]])
def test_a_question_is_named_by_a_text(identifier, tmp_path):
    task = exported(annotation())
    task["data"]["id"] = identifier
    with pytest.raises(BadInput, match="e.json:1: field 'data': missing or not a text; got {'answer_id': '"):
        read_judgements(write(tmp_path / "e.json", [task]), {"q1"}, {"m": {"q1": "Lens"}})
