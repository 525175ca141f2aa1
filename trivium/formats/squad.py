"""Question sets in SQuAD's format: FQuAD, PIAF, and the partitions that this project writes.

{"version", "data": [{"title", "paragraphs": [{"context",
    "qas": [{"id", "question", "answers": [{"text", "answer_start"}], "is_impossible"}]}]}]}
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from trivium.core.errors import BadInput
from trivium.core.tables import read_json, write_json
from trivium.formats.framed_texts import Example, end_of
from trivium.formats.json_fields import Field
from trivium.formats.question_sets import tree_questions

VERSION = "1.1"
_LISTED = 10  # ids named in a message, of questions with answers that do not stand at their place
REASONS = ("impossible", "no_answer", "empty_question", "wrong_offset")


@dataclass(frozen=True)
class SquadQuestion:
    """A question about a context, with its valid answers as (text, first character), each a stretch of the context."""

    id: str
    title: str
    context: str
    question: str
    answers: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class SquadSet:
    """The content of a file of questions, in its order.

    Where an answer equals its stretch of the context only up to what `fold` removes, the stretch is the answer.
    """

    questions: tuple[SquadQuestion, ...]
    dropped: dict[str, int]  # number of questions left out, by reason; `wrong_offset`: no answer stands at its place
    wrong_answers: tuple[str, ...]  # the question's id, once for each answer that does not stand at its `answer_start`
    unified: int  # number of answers of which the stretch was taken

    @property
    def wrong_offsets(self) -> str | None:
        """Say how many answers do not stand at their place, and name the first ten questions; None if all do."""
        if not self.wrong_answers:
            return None
        ids = list(dict.fromkeys(self.wrong_answers))
        shown = ", ".join(ids[:_LISTED]) + (f" and {len(ids) - _LISTED} more" if len(ids) > _LISTED else "")
        return f"answers that do not stand at their answer_start: {len(self.wrong_answers)}, of the questions {shown}"


def read_squad(path: Path) -> SquadSet:
    """Read a set; questions that cannot be asked are left out and counted, a set without any other is refused."""
    questions: list[SquadQuestion] = []
    dropped = dict.fromkeys(REASONS, 0)
    wrong: list[str] = []
    unified = 0
    first: dict[str, str] = {}
    for title, context, field, _ in tree_questions(Field(read_json(path), path)["data"].items()):
        identifier = field["id"].identifier()
        if identifier in first:
            field["id"].refuse(f"id twice, the first in {first[identifier]}")
        first[identifier] = field.name
        question, (answers, misplaced, differing) = field["question"].text(), _answers(field, context)
        if field.get_or("is_impossible", False).boolean():
            dropped["impossible"] += 1
        elif not question.strip():
            dropped["empty_question"] += 1
        elif not answers:
            dropped["wrong_offset" if misplaced else "no_answer"] += 1
        else:
            questions.append(SquadQuestion(identifier, title, context, question, answers))
        wrong += [identifier] * misplaced
        unified += differing
    if not questions:
        raise BadInput("no question that can be used", file=path, got=dropped, expected="SQuAD's format, with answers")
    return SquadSet(tuple(questions), dropped, tuple(wrong), unified)


def _answers(field: Field, context: str) -> tuple[tuple[tuple[str, int], ...], int, int]:
    """Return the answers that stand at their place, the number of the others, and how many differ in Unicode form."""
    placed, misplaced, differing = [], 0, 0
    for answer in field.get_or("answers", []).items():
        text, start = answer["text"].text(), answer["answer_start"].integer()
        end = end_of(context, start, text)
        if end is None:
            misplaced += 1
        else:
            differing += context[start:end] != text
            placed.append((context[start:end], start))
    return tuple(placed), misplaced, differing


def as_squad(example: Example) -> SquadQuestion:
    """Convert an example to a question with one answer."""
    answer = (example.answer_text, example.answer.start)
    return SquadQuestion(example.id, example.text.title, example.text.text, example.question, (answer,))


def write_squad(path: Path, questions: Sequence[SquadQuestion]) -> None:
    """Write a set in the order given; neighbours with the same title or context share an article or a paragraph."""
    data: list[dict[str, Any]] = []
    for title, of_title in groupby(questions, key=lambda question: question.title):
        paragraphs = [
            {"context": context, "qas": [_record(question) for question in of_context]}
            for context, of_context in groupby(of_title, key=lambda question: question.context)
        ]
        data.append({"title": title, "paragraphs": paragraphs})
    write_json(path, {"version": VERSION, "data": data})


def _record(question: SquadQuestion) -> dict[str, Any]:
    answers = [{"text": text, "answer_start": start} for text, start in question.answers]
    return {"id": question.id, "question": question.question, "answers": answers}
