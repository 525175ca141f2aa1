"""Which entity a picture shows: a model behind an endpoint chooses among the best of retrieval (kvqae.md §5).

The model sees the picture, the question, and numbered names, each with its article's picture where there is one. It
replies with a number; 0 is none of them. What is read then are the passages of this entity alone.
"""

import hashlib
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from pydantic import Field

from trivium.core.folding import fold
from trivium.kvqae.reader.prompted import Asked, Part, is_readable
from trivium.prompting.answer_cache import key_of
from trivium.prompting.asking import EndpointModel

INSTRUCTION = (
    "The first picture shows a person, a place or a thing that a question is about. "
    "Numbered names follow, some of them with a picture of their own. Which of them does the first picture show? "
    "Reply with its number alone, or with 0 if it shows none of them."
)
NONE = 0  # the number of no entity
_STATED = re.compile(r"\b(?:is|number|answer|entity|option)[\s:*#]*(\d+)\b")
_LEADING = re.compile(r"[\W_]*(\d+)\b")


class Identifier(EndpointModel):
    """An entry of `kvqae.identifiers`."""

    run: str = Field(description="Folder of the run whose best entities are compared")
    encoder: str = Field(description="Text encoder that ranks the passages of the chosen entity")
    entities: int = Field(default=5, ge=1, le=50, description="Best entities of the run that the model chooses among")
    passages: int = Field(default=5, ge=1, description="Best passages read")
    max_side: int = Field(default=512, ge=32, description="Longer side of the pictures that are sent, in pixels")


class Candidate(NamedTuple):
    """An entity that the picture may show."""

    title: str
    picture: Callable[[], bytes] | None  # reads the file of its picture; None without one


def ask_which(
    model: EndpointModel, question: str, picture: Callable[[], bytes], candidates: Sequence[Candidate], **limits: int
) -> Asked:
    """The message that asks which of some entities a picture shows; broken pictures of entities are left out.

    Args:
        model: who is asked.
        question: about what the picture shows.
        picture: reads its file, which can be decoded.
        candidates: best first.
        limits: `max_side` and `max_pixels` of the pictures.
    """
    parts: list[Part] = [INSTRUCTION, picture, f"The question: {question}"]
    for number, candidate in enumerate(candidates, 1):
        parts.append(f"{number}. {candidate.title}")
        if candidate.picture is not None and is_readable(candidate.picture(), **limits):
            parts.append(candidate.picture)
    content = [
        part if isinstance(part, str) else {"picture": hashlib.sha256(part()).hexdigest(), "side": limits["max_side"]}
        for part in parts
    ]
    return Asked(key_of(model.model, [{"role": "user", "content": content}], model.sampling), parts)


def choice_of(words: str, titles: Sequence[str]) -> int | None:
    """The number that a reply means, from 1, `NONE` for none of them; None where it means nothing or several.

    A reply may repeat a title in place of its number, or say more than it should.
    """
    said, names = fold(words).casefold().strip(" .*"), [fold(title).casefold() for title in titles]
    if names.count(said) == 1:
        return names.index(said) + 1
    leading = _LEADING.match(words)
    if leading and int(leading[1]) <= len(titles):
        return int(leading[1])
    named = [number for number, name in enumerate(names, 1) if name in said]
    if len(named) == 1:
        return named[0]
    if not named and re.search(r"\bnone\b", said):
        return NONE
    numbers = {int(number) for number in _STATED.findall(said)}
    return numbers.pop() if not named and len(numbers) == 1 and max(numbers) <= len(titles) else None
