"""TriviaQA in its own format: questions, answers and the Wikipedia pages that TagMe linked (kvqae.md §2)."""

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
_CHUNK = 1 << 20


@dataclass(frozen=True)
class TriviaQuestion:
    """One question.

    Attributes:
        id: TriviaQA's, without white space.
        text: what is asked.
        answer: the answer as first written.
        answers: it and its aliases, none twice.
        links: titles of the Wikipedia pages that TagMe found in the question, in order.
    """

    id: str
    text: str
    answer: str
    answers: tuple[str, ...]
    links: tuple[str, ...]


def read_triviaqa(path: Path) -> Iterator[TriviaQuestion]:
    """Stream a file of TriviaQA; memory holds a question at a time, whatever the size of the file.

    Raises:
        BadInput: not TriviaQA's JSON, cut short, a field is missing or of another type, an id twice, or no question.
    """
    with open_text(path) as stream:
        yield from parse_triviaqa(stream, path)


def parse_triviaqa(stream: IO[bytes], path: Path) -> Iterator[TriviaQuestion]:
    """As `read_triviaqa`, from an open file (a member of an archive, say); `path` is for messages."""
    seen: set[str] = set()
    for row, record in enumerate(_records(stream, path), 1):
        question = _question(Field(record, path, row))
        if question.id in seen:
            raise BadInput("question twice", file=path, row=row, field="QuestionId", got=question.id)
        seen.add(question.id)
        yield question
    if not seen:
        raise BadInput("no questions", file=path, expected='objects in "Data"')


def _records(stream: IO[bytes], path: Path) -> Iterator[Any]:
    """The elements of the array "Data", decoded one after the other from a window on the file."""
    text = _Text(stream, path)
    start = _DATA.search(text.window)
    while start is None and text.more():
        start = _DATA.search(text.window)
    if start is None:
        raise BadInput('no array "Data"', file=path, expected='TriviaQA\'s own format: {"Data": [...]}')
    place, row = start.end(), 1
    while True:
        place = _skip(text.window, place)
        if place == len(text.window):
            text.drop(place)
            place = 0
            if not text.more():
                raise BadInput("the file is cut short", file=path, row=row, expected='"]" after the last question')
            continue
        if text.window[place] == "]":
            return
        try:
            record, place = parse_element(text.window, place, path, row)
        except json.JSONDecodeError as error:
            text.drop(place)  # cut within a question: read on
            place = 0
            if not text.more():
                raise BadInput(f"not JSON: {error.msg}", file=path, row=row) from None
            continue
        yield record
        row += 1


class _Text:
    """A window on the text of a file that grows on demand, twice as much at each want of more."""

    def __init__(self, stream: IO[bytes], path: Path) -> None:
        self.window, self._stream, self._path, self._chunk = "", stream, path, _CHUNK
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self.more()

    def more(self) -> bool:
        """Read on; False at the end of the file."""
        data = self._stream.read(self._chunk)
        self._chunk = min(2 * self._chunk, 64 * _CHUNK)
        try:
            self.window += self._decoder.decode(data, final=not data)
        except UnicodeDecodeError as error:
            raise BadInput(f"not UTF-8: {error.reason}", file=self._path) from None
        return bool(data)

    def drop(self, place: int) -> None:
        """Forget what is before `place`."""
        self.window = self.window[place:]


def _skip(window: str, place: int) -> int:
    match = _BETWEEN.match(window, place)
    return match.end() if match else place


def _question(record: Field) -> TriviaQuestion:
    identifier = record["QuestionId"].text(empty=False)
    if identifier.split() != [identifier]:
        record["QuestionId"].refuse("white space in the id")
    if record.get("Answer") is None:
        problem = "no answer: TriviaQA's test questions have none; take the training and development files"
        record.refuse(problem, choices=record.keys)
    value, aliases, pages = (
        record["Answer"]["Value"].text(empty=False),
        record["Answer"].get("Aliases"),
        record.get("EntityPages"),
    )
    return TriviaQuestion(
        id=identifier,
        text=record["Question"].text(empty=False),
        answer=value,
        answers=tuple(dict.fromkeys([value, *filter(str.strip, aliases.texts() if aliases else ())])),
        links=tuple(
            page["Title"].text(empty=False)
            for page in (pages.items() if pages else ())
            if page.get("DocSource") is None or page["DocSource"].value == "TagMe"
        ),
    )
