"""TriviaQA in its own format: questions, answers, and the Wikipedia pages to which TagMe linked them (kvqae.md §2)."""

import codecs
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from trivium.core.errors import BadInput
from trivium.core.reading import open_text, parse_element
from trivium.formats.json_fields import Field

_DATA = re.compile(r'"Data"\s*:\s*\[')
_BETWEEN = re.compile(r"[\s,]*")
_CHUNK = 1 << 22  # bytes


@dataclass(frozen=True)
class TriviaQuestion:
    """One question."""

    id: str  # TriviaQA's, without white space
    text: str
    answer: str  # as first written
    answers: tuple[str, ...]  # this answer and its aliases, none twice
    links: tuple[str, ...]  # titles of the Wikipedia pages to which TagMe linked words of the question, in order


def read_triviaqa(path: Path) -> Iterator[TriviaQuestion]:
    """Stream the questions of a file of TriviaQA, one in memory at a time whatever the size of the file.

    Raises:
        BadInput: not TriviaQA's JSON, or cut short, a field is wrong, an id stands twice, or there is no question.
    """
    with open_text(path) as stream:
        yield from parse_triviaqa(stream, path)


def parse_triviaqa(stream: IO[bytes], path: Path) -> Iterator[TriviaQuestion]:
    """Stream questions as `read_triviaqa` does, from an open file such as a member of an archive, named `path`."""
    identifiers: set[str] = set()
    for row, record in enumerate(_records(stream, path), 1):
        question = _question(Field(record, path, row))
        if question.id in identifiers:
            raise BadInput("question twice", file=path, row=row, field="QuestionId", got=question.id)
        identifiers.add(question.id)
        yield question
    if not identifiers:
        raise BadInput("no questions", file=path, expected='objects in "Data"')


def _records(stream: IO[bytes], path: Path) -> Iterator[Any]:
    """Yield the elements of the array "Data" one by one; memory holds a part of the file with at least one element."""
    decoder = codecs.getincrementaldecoder("utf-8-sig")()

    def read() -> str:
        data = stream.read(_CHUNK)
        try:
            return decoder.decode(data, final=not data)
        except UnicodeDecodeError as error:
            raise BadInput(f"not UTF-8: {error.reason}", file=path) from None

    window = read()
    start = _DATA.search(window)
    if start is None:
        raise BadInput('no array "Data"', file=path, expected='TriviaQA\'s own format: {"Data": [...]}')
    place, row = start.end(), 1
    while True:
        place = _BETWEEN.match(window, place).end()  # type: ignore[union-attr]
        if window[place : place + 1] == "]":
            return
        try:
            record, place = parse_element(window, place, path, row)
        except json.JSONDecodeError as error:  # perhaps the part of the file ends within a question
            more = read()
            if not more:
                raise BadInput(f"not JSON, or cut short: {error.msg}", file=path, row=row) from None
            window, place = window[place:] + more, 0
        else:
            yield record
            row += 1


def _question(record: Field) -> TriviaQuestion:
    identifier = record["QuestionId"].text(empty=False)
    if identifier.split() != [identifier]:
        record["QuestionId"].refuse("white space in the id")
    if record.get("Answer") is None:
        problem = "no answer: TriviaQA's test questions have none; take the training and development files"
        record.refuse(problem, choices=record.keys)
    value = record["Answer"]["Value"].text(empty=False)
    aliases = record["Answer"].get_or("Aliases", ()).texts()
    return TriviaQuestion(
        id=identifier,
        text=record["Question"].text(empty=False),
        answer=value,
        answers=tuple(dict.fromkeys([value, *filter(str.strip, aliases)])),
        links=tuple(
            page["Title"].text(empty=False)
            for page in record.get_or("EntityPages", []).items()
            if page.get_or("DocSource", "TagMe").value == "TagMe"
        ),
    )
