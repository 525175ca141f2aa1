"""SQuAD's format: what is read, what is left out and counted, what is refused.

Fields of FQuAD's `train.json` and `valid.json`, by hand: `_generate_examples` of
https://huggingface.co/datasets/illuin/fquad/blob/main/fquad.py; of version 2 (`is_impossible`, `plausible_answers`):
https://rajpurkar.github.io/SQuAD-explorer.
"""

import json
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from trivium.formats.squad import SquadQuestion, read_squad, write_squad

CONTEXT = "Le roi Évrard assiégea la ville d'Orvel en 412 avec 10\u00a0000 hommes."


def asked(identifier: Any, *answers: tuple[str, int], question: str = "Qui assiégea Orvel ?", **more: Any) -> dict:
    given = [{"text": text, "answer_start": start} for text, start in answers]
    return {"id": identifier, "question": question, "answers": given, **more}


def write(path: Path, *qas: dict, context: str = CONTEXT) -> Path:
    data = [{"title": "Orvel", "paragraphs": [{"context": context, "qas": list(qas)}]}]
    path.write_text(json.dumps({"version": "1.1", "data": data}), encoding="utf-8")
    return path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "set.json"


def test_several_answers_in_order(path: Path):
    read = read_squad(write(path, asked("a", ("Évrard", 7), ("Le roi Évrard", 0)), asked("b", ("412", 43))))
    assert read.questions == (
        SquadQuestion("a", "Orvel", CONTEXT, "Qui assiégea Orvel ?", (("Évrard", 7), ("Le roi Évrard", 0))),
        SquadQuestion("b", "Orvel", CONTEXT, "Qui assiégea Orvel ?", (("412", 43),)),
    )
    assert read.dropped == {"impossible": 0, "no_answer": 0, "empty_question": 0, "wrong_offset": 0}


def test_what_cannot_be_asked_is_left_out_by_reason(path: Path):
    read = read_squad(
        write(
            path,
            asked("good", ("412", 43), is_impossible=False),
            asked("impossible", is_impossible=True, plausible_answers=[{"text": "412", "answer_start": 43}]),
            asked("none"),
            asked("shifted", ("412", 42)),
            asked("far", ("412", 4200)),
            asked("before", ("412", -3)),
            asked("nothing", ("", 3)),
            asked("half", ("412", 42), ("412", 43)),
            asked("blank", ("412", 43), question=" "),
        )
    )
    assert [question.id for question in read.questions] == ["good", "half"]
    assert read.questions[1].answers == (("412", 43),)
    assert read.dropped == {"impossible": 1, "no_answer": 1, "empty_question": 1, "wrong_offset": 4}
    assert read.wrong_answers == ("shifted", "far", "before", "nothing", "half")


def test_offsets_survive_forms_and_spaces(path: Path):
    """The context stays as it is; the answer becomes its own stretch."""
    decomposed = unicodedata.normalize("NFD", CONTEXT)
    start = decomposed.index("10")
    read = read_squad(write(path, asked("a", ("Évrard", 7)), asked("b", ("10 000 hommes", start)), context=decomposed))
    assert read.unified == 2
    for question in read.questions:
        assert question.context == decomposed
        ((text, first),) = question.answers
        assert decomposed[first : first + len(text)] == text
    assert read.questions[1].answers[0][0] == "10\u00a0000 hommes"


def test_written_and_read_again(path: Path):
    questions = [
        SquadQuestion("1", "A", CONTEXT, "Qui ?", (("Évrard", 7), ("roi", 3))),
        SquadQuestion("2", "A", CONTEXT, "Quand ?", (("412", 43),)),
        SquadQuestion("3", "A", "Autre texte.", "Quoi ?", (("texte", 6),)),
        SquadQuestion("4", "B", "Autre texte.", "Quoi ?", (("Autre", 0),)),
        SquadQuestion("5", "A", CONTEXT, "Combien ?", (("10\u00a0000", 52),)),
    ]
    write_squad(path, questions)
    assert read_squad(path).questions == tuple(questions)
    tree = json.loads(path.read_text())
    assert [(article["title"], len(article["paragraphs"])) for article in tree["data"]] == [
        ("A", 2),
        ("B", 1),
        ("A", 1),
    ]


def test_answers_that_stand_elsewhere_are_listed(path: Path):
    good = asked("good", ("412", 43))
    assert read_squad(write(path, good)).wrong_offsets is None
    two = read_squad(write(path, good, asked("a", ("412", 1), ("Le roi", 0)), asked("b", ("412", 2), ("412", 3))))
    assert two.wrong_offsets == "answers that do not stand at their answer_start: 3, of the questions a, b"
    many = read_squad(write(path, good, *(asked(f"q{n}", ("412", 2)) for n in range(12)))).wrong_offsets
    assert many is not None
    assert many.endswith(": 12, of the questions q0, q1, q2, q3, q4, q5, q6, q7, q8, q9 and 2 more")
