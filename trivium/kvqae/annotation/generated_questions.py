"""Generated questions, between automatic construction and annotators: one JSON object a line (kvqae.md §2)."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trivium.core.errors import BadInput
from trivium.core.tables import read_json_lines


@dataclass(frozen=True)
class GeneratedQuestion:
    """A question whose named entity was replaced by an ambiguous mention.

    Attributes:
        id: TriviaQA's id of the question it was made from, an underscore, where the mention starts.
        text: the generated question.
        original_question: TriviaQA's, which names the entity.
        mention: the entity as that question names it.
        names: all that the entity is called, the mention included.
        ambiguous_mention: what stands for it now.
        other_mentions: ambiguous mentions that would do as well.
        original_answer, answers: the usual form, and all valid ones.
        wikidata_id, kilt_id, title: the entity, its article in KILT and that article's title.
        human: whether the entity is a person.
        reference: the knowledge base's image of the entity.
        images: candidates, at least one: the one proposed, then the others.
    """

    id: str
    text: str
    original_question: str
    mention: str
    names: tuple[str, ...]
    ambiguous_mention: str
    other_mentions: tuple[str, ...]
    original_answer: str
    answers: tuple[str, ...]
    wikidata_id: str
    kilt_id: str
    title: str
    human: bool
    reference: str
    images: tuple[str, ...]

    @property
    def source(self) -> str:
        """Id of the TriviaQA question it was made from."""
        return self.id.rpartition("_")[0]


def name_pattern(names: Iterable[str]) -> re.Pattern[str]:
    """Any of the names (one at least) at word boundaries, regardless of case.

    Not normalised as answers are: without its article, the name of "The Who" would stand in every second question.
    """
    longest_first = sorted({name.strip() for name in names if name.strip()}, key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first))})(?!\w)", re.IGNORECASE)


def read_generated(path: Path) -> dict[str, GeneratedQuestion]:
    """Generated questions by id, in the order of the file.

    Raises:
        BadInput: a field is missing or of the wrong type, an id stands twice or does not end in a position, or there
            is no question.
    """
    questions: dict[str, GeneratedQuestion] = {}
    for row, record in read_json_lines(path):
        question = _question(record, path, row)
        if question.id in questions:
            raise BadInput("question twice", file=path, row=row, field="id", got=question.id)
        questions[question.id] = question
    if not questions:
        raise BadInput("no questions", file=path, expected="one JSON object a line")
    return questions


def _question(record: dict[str, Any], path: Path, row: int) -> GeneratedQuestion:
    def text(name: str, of: dict[str, Any] = record, field: str = "") -> str:
        value = of.get(name)
        if not isinstance(value, str) or not value.strip():
            raise BadInput("missing or empty", file=path, row=row, field=field or name, got=value, expected="a text")
        return value

    def texts(name: str, of: dict[str, Any] = record, field: str = "") -> tuple[str, ...]:
        value = of.get(name)
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise BadInput("not a list of texts", file=path, row=row, field=field or name, got=value)
        return tuple(value)

    answer = record.get("answer")
    if not isinstance(answer, dict):
        raise BadInput("missing or not an object", file=path, row=row, field="answer", got=answer)
    if not isinstance(record.get("human"), bool):
        raise BadInput("not true or false", file=path, row=row, field="human", got=record.get("human"))
    identifier, images, names = text("id"), texts("images"), texts("names")
    source, _, start = identifier.rpartition("_")
    if not source or not start.isdigit():
        expected = "TriviaQA's id, an underscore, where the mention starts"
        raise BadInput("not the id of a mention", file=path, row=row, field="id", got=identifier, expected=expected)
    if not images or len(set(images)) < len(images):
        raise BadInput("no image, or one twice", file=path, row=row, field="images", got=list(images))
    if not any(map(str.strip, names)):
        raise BadInput("the entity has no name", file=path, row=row, field="names", got=list(names))
    return GeneratedQuestion(
        id=identifier,
        text=text("input"),
        original_question=text("original_question"),
        mention=text("mention"),
        names=names,
        ambiguous_mention=text("ambiguous_mention"),
        other_mentions=texts("other_mentions"),
        original_answer=text("original_answer", answer, "answer.original_answer"),
        answers=texts("answer", answer, "answer.answer"),
        wikidata_id=text("wikidata_id"),
        kilt_id=text("kilt_id"),
        title=text("title"),
        human=record["human"],
        reference=text("reference"),
        images=images,
    )
