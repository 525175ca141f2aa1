"""Questions as ViQuAE and TriviaQA bring them: one JSON object a line, in KILT's format."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trivium.core.errors import BadInput
from trivium.core.tables import read_json_lines

SPLITS = ("train", "validation", "test")


@dataclass(frozen=True)
class Question:
    """A question and its answers.

    Attributes:
        id: unique in its file, without white space (it goes into TREC files).
        text: what is asked; for ViQuAE the entity is only in the image.
        answers: valid answers, the original one first, then its aliases; none twice.
        original_answer: the answer as first written.
        image: name of the question's image; None for TriviaQA.
        wikidata_id: the entity shown, such as `Q12`, whose article is the question's own; None for TriviaQA. ViQuAE's
            `kilt_id` is the TriviaQA question in KILT, no article.
        original_question: the TriviaQA question it was made from; None for TriviaQA.
    """

    id: str
    text: str
    answers: tuple[str, ...]
    original_answer: str
    image: str | None = None
    wikidata_id: str | None = None
    original_question: str | None = None


def read_questions(path: Path) -> list[Question]:
    """Read a split of ViQuAE or TriviaQA.

    Raises:
        BadInput: a field is missing or of the wrong type, an id holds white space or stands twice, there is no answer,
            or there is no question at all.
    """
    questions: dict[str, Question] = {}
    for row, record in read_json_lines(path):
        question = _question(record, path, row)
        if question.id in questions:
            raise BadInput("question twice", file=path, row=row, field="id", got=question.id)
        questions[question.id] = question
    if not questions:
        raise BadInput("no questions", file=path, expected="one JSON object a line")
    return list(questions.values())


def _question(record: dict[str, Any], path: Path, row: int) -> Question:
    output = record.get("output")
    if not isinstance(output, dict):
        raise BadInput("missing or not an object", file=path, row=row, field="output", got=output)
    answers = output.get("answer")
    if not isinstance(answers, list) or not all(isinstance(answer, str) for answer in answers):
        raise BadInput("not a list of texts", file=path, row=row, field="output.answer", got=answers)
    original_answer = _text(output, "original_answer", path, row, "output.original_answer")
    identifier = _text(record, "id", path, row)
    if len(identifier.split()) != 1 or identifier.strip() != identifier:
        raise BadInput("white space in the id", file=path, row=row, field="id", got=identifier)
    return Question(
        id=identifier,
        text=_text(record, "input", path, row),
        answers=tuple(dict.fromkeys([original_answer, *filter(str.strip, answers)])),
        original_answer=original_answer,
        image=_optional(record, "image", path, row),
        wikidata_id=_optional(record, "wikidata_id", path, row),
        original_question=_optional(record, "original_question", path, row),
    )


def _text(record: dict[str, Any], field: str, path: Path, row: int, name: str | None = None) -> str:
    value = record.get(field)
    if not isinstance(value, str) or not value.strip():
        raise BadInput("missing or empty", file=path, row=row, field=name or field, got=value, expected="a text")
    return value


def _optional(record: dict[str, Any], field: str, path: Path, row: int) -> str | None:
    return _text(record, field, path, row) if record.get(field) is not None else None
