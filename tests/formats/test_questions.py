import json
from pathlib import Path
from typing import Any

import pytest

from trivium.core.errors import BadInput
from trivium.formats.questions import read_questions


def record(**changes: Any) -> dict[str, Any]:
    return {
        "id": "q1",
        "input": "Which river does this bridge cross?",
        "image": "bridge.jpg",
        "wikidata_id": "Q12",
        "kilt_id": "77",
        "url": "",
        "original_question": "Which river does the Iron Span cross?",
        "output": {"original_answer": "Vell", "answer": ["Vell", "River Vell", "Vell"], "provenance": []},
        "meta": {},
    } | changes


def write(folder: Path, *records: Any) -> Path:
    path = folder / "train.jsonl"
    path.write_text("".join(json.dumps(item) + "\n" for item in records))
    return path


def test_reads_every_field(tmp_path: Path) -> None:
    (question,) = read_questions(write(tmp_path, record()))
    assert question.answers == ("Vell", "River Vell")
    assert (question.id, question.text) == ("q1", "Which river does this bridge cross?")
    assert (question.image, question.wikidata_id) == ("bridge.jpg", "Q12")
    assert question.original_question == "Which river does the Iron Span cross?"


def test_a_question_twice_is_refused_with_the_place_of_the_first(tmp_path: Path) -> None:
    message = r"train\.jsonl:3: field 'id': question twice, the first in row 1; got 'q1'"
    with pytest.raises(BadInput, match=message):
        read_questions(write(tmp_path, record(), record(id="q2"), record()))


def test_a_file_without_questions_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no questions; expected one JSON object a line"):
        read_questions(write(tmp_path))
