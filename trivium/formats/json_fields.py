"""JSON values with their places, so that an error names file, line and field."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from trivium.core.errors import BadInput
from trivium.core.reading import parse_json, read_text
from trivium.core.tables import parse_object, read_json_lines
from trivium.formats.framed_texts import Span


@dataclass(frozen=True, slots=True)
class Field:
    """A value of a JSON record, with its place."""

    value: Any  # of any JSON type
    file: Path
    row: int | str | None = None  # of the record; None where the file is one JSON value
    name: str = ""  # the path to the value, such as `frames[0].lexical_unit.start`; "" for the record itself

    def refuse(self, problem: str, **details: Any) -> NoReturn:
        """Raise `BadInput` for this field; the message shows its value, unless it is a whole record."""
        if self.name:
            details.setdefault("got", self.value)
        raise BadInput(problem, file=self.file, row=self.row, field=self.name or None, **details)

    @property
    def place(self) -> str:
        """The row and the path to the value, as far as there are any."""
        return ", ".join(filter(None, (f"row {self.row}" if self.row else "", self.name)))

    @property
    def keys(self) -> Collection[str]:
        """Names of an object's fields; none where the value is not an object."""
        return self.value.keys() if isinstance(self.value, dict) else ()

    def __getitem__(self, key: str) -> "Field":
        """Return a field; `BadInput` if it is missing."""
        field = self.get(key)
        if field is None:
            self._at(f".{key}", None).refuse("missing", choices=self.value)
        return field

    def get(self, key: str) -> "Field | None":
        """Return a field, or None where it is absent or null."""
        if not isinstance(self.value, dict):
            self.refuse("not an object", expected="a JSON object")
        value = self.value.get(key)
        return None if value is None else self._at(f".{key}", value)

    def get_or(self, key: str, default: Any) -> "Field":
        """Return a field; where it is absent or null, it has the default as its value."""
        return self.get(key) or self._at(f".{key}", default)

    def items(self) -> Iterator["Field"]:
        """Yield the members of a list."""
        if not isinstance(self.value, list):
            self.refuse("not a list", expected="a list")
        for number, value in enumerate(self.value):
            yield self._at(f"[{number}]", value)

    def text(self, *, empty: bool = True) -> str:
        """Return the value, which must be a text."""
        if not isinstance(self.value, str):
            self.refuse("not a text", expected="a text")
        if not empty and not self.value.strip():
            self.refuse("empty", expected="a text")
        return self.value

    def texts(self) -> tuple[str, ...]:
        """Return the value, which must be a list of texts."""
        if not isinstance(self.value, list | tuple) or not all(isinstance(text, str) for text in self.value):
            self.refuse("not a list of texts", expected="a list of texts")
        return tuple(self.value)

    def identifier(self) -> str:
        """Return an id, which is a text or a whole number, as a text."""
        return str(self.integer()) if isinstance(self.value, int) else self.text(empty=False)

    def name_of(self, choices: Collection[str]) -> str:
        """Return the value, which must be one of these names."""
        if self.text() not in choices:
            self.refuse("unknown", choices=choices)
        return str(self.value)

    def integer(self) -> int:
        """Return the value, which must be a whole number."""
        if not isinstance(self.value, int) or isinstance(self.value, bool):
            self.refuse("not a whole number", expected="a whole number")
        return self.value

    def boolean(self) -> bool:
        """Return the value, which must be true or false."""
        if not isinstance(self.value, bool):
            self.refuse("not true or false")
        return self.value

    def span(self, text: str) -> Span:
        """Return the span of `start` and `end`, which must not be empty and must lie in this text."""
        span = Span(self["start"].integer(), self["end"].integer())
        if span.start == span.end:
            self.refuse("empty span", expected="start < end")
        if not 0 <= span.start < span.end <= len(text):
            expected = f"0 <= start < end <= {len(text)}"
            self.refuse("span is not in the text", got=(span.start, span.end), expected=expected)
        return span

    def _at(self, step: str, value: Any) -> "Field":
        return Field(value, self.file, self.row, (self.name + step).removeprefix("."))


def read_records(path: Path, key: str, what: str) -> Iterator[Field]:
    """Stream the objects of a file of JSON lines, each of which has a name of its own, a text, in the field `key`.

    Not JSON lines, a name that is missing, empty or stands twice, and a file without objects are `BadInput`, whose
    message calls an object as `what` says, such as "question".
    """
    names: set[str] = set()
    for row, record in read_json_lines(path):
        field = Field(record, path, row)
        name = field[key].text(empty=False)
        if name in names:
            first = next(other for other, earlier in read_json_lines(path) if earlier[key] == name)
            field[key].refuse(f"{what} twice, the first in row {first}")
        names.add(name)
        yield field
    if not names:
        raise BadInput(f"no {what}s", file=path, expected="one JSON object a line")


def read_json_or_lines(path: Path) -> list[Field]:
    """Read the objects of a file of JSON lines, or the single JSON value of another file."""
    text = read_text(path)
    lines = [(row, line) for row, line in enumerate(text.split("\n"), 1) if line.strip()]
    if len(lines) > 1 and lines[0][1].lstrip().startswith("{"):
        try:
            parse_object(lines[0][1], path, 1)
        except BadInput:
            pass  # one object over several lines, or no JSON at all: the last line decides
        else:
            return [Field(parse_object(line, path, row), path, row) for row, line in lines]
    return [Field(parse_json(text, path), path)]
