import json
from pathlib import Path
from typing import Any

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
