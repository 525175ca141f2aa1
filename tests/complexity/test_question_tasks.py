"""Questions by the paper's protocol: what annotators see, and what an export of Label Studio becomes.

The export's form: https://labelstud.io/guide/export (JSON), with `completed_by` a number and a text area's `text` a list.
"""

import json

from tests.complexity.factor_world import SIEGE, TAKING, TEXTS
from trivium.complexity.question_tasks import CONFIG, question_tasks, read_questions
from trivium.formats.frame_corpora import load_examples, write_examples


def export(tmp_path, *answered):
    tasks = [
        {
            "id": row,
            "data": data,
            "annotations": [
                {
                    "id": 100 + row,
                    "completed_by": 7,
                    "was_cancelled": False,
                    "result": [
                        {"from_name": "question", "to_name": "frame", "type": "textarea", "value": {"text": [said]}}
                    ],
                }
            ],
        }
        for row, (data, said) in enumerate(answered)
    ]
    (tmp_path / "questions.json").write_text(json.dumps(tasks), "utf-8")
    return tmp_path / "questions.json"


def task(element, frame):
    return next(
        each["data"]
        for each in question_tasks(TEXTS, 0)
        if (each["data"]["element"], each["data"]["frame"]) == (element, frame)
    )


def test_every_element_is_asked_for_once_and_neither_sentence_nor_trigger_is_shown():
    tasks = [each["data"] for each in question_tasks(TEXTS, 0)]
    assert len(tasks) == len({json.dumps(each) for each in tasks}) == 3 + 2 + 2 + 1
    victim = task("Victim", "Besieging")
    if victim["text_id"] == "t1":
        assert victim["answer"] == "Victim : la vieille ville"
        assert victim["context"] == "Assailant : Les Gaulois ; Time : au printemps"
    shown = [each[name] for each in tasks for name in ("frame", "answer", "context")]
    assert not any("assiègent" in text or "prennent" in text for text in shown)
    assert [name for name in ("$frame", "$answer", "$context", "$text") if name in CONFIG] == [
        "$frame",
        "$answer",
        "$context",
    ]
    assert question_tasks(TEXTS, 0) != question_tasks(TEXTS, 1)


def test_an_export_becomes_questions_that_the_pipeline_reads(tmp_path):
    assailant = next(
        each["data"] for each in question_tasks(TEXTS, 0)
        if (each["data"]["element"], each["data"]["text_id"]) == ("Assailant", "t1")
    )  # fmt: skip
    theme = task("Theme", "Taking")
    path = export(tmp_path, (assailant, "Qui attaqua la vieille ville ?"), (theme, "Que prend-on ?"))
    first, second = read_questions(path, TEXTS)
    assert (first.frame, first.answer_text, first.context_elements) == (SIEGE, "Les Gaulois", ("Victim",))
    assert (second.frame, second.answer_text, second.context_elements) == (TAKING, "le camp de César", ())
    write_examples(tmp_path / "questions.jsonl", [first, second])
    assert load_examples(tmp_path / "questions.jsonl", list(TEXTS)).examples == [first, second]
