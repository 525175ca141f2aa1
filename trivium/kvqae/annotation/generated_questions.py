"""Generated questions, between automatic construction and annotators: one JSON object a line (kvqae.md §2)."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

from pydantic import AliasPath, Field, StrictBool, StrictStr, field_validator
from pydantic.dataclasses import dataclass

from trivium.core.errors import BadInput
from trivium.core.tables import read_json_records

Text = Annotated[StrictStr, Field(pattern=r"\S")]


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

    id: Annotated[StrictStr, Field(pattern=r"^.+_\d+$")]
    text: Annotated[Text, Field(validation_alias="input")]
    original_question: Text
    mention: Text
    names: tuple[StrictStr, ...]
    ambiguous_mention: Text
    other_mentions: tuple[StrictStr, ...]
    original_answer: Annotated[Text, Field(validation_alias=AliasPath("answer", "original_answer"))]
    answers: Annotated[tuple[StrictStr, ...], Field(validation_alias=AliasPath("answer", "answer"))]
    wikidata_id: Text
    kilt_id: Text
    title: Text
    human: StrictBool
    reference: Text
    images: tuple[StrictStr, ...]

    @field_validator("names")
    @classmethod
    def _has_a_name(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        if not any(map(str.strip, names)):
            raise ValueError("the entity has no name")
        return names

    @field_validator("images")
    @classmethod
    def _are_distinct(cls, images: tuple[str, ...]) -> tuple[str, ...]:
        if not images or len(set(images)) < len(images):
            raise ValueError("no image, or one twice")
        return images

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
    for row, question in read_json_records(path, GeneratedQuestion):
        if question.id in questions:
            raise BadInput("question twice", file=path, row=row, field="id", got=question.id)
        questions[question.id] = question
    if not questions:
        raise BadInput("no questions", file=path, expected="one JSON object a line")
    return questions
