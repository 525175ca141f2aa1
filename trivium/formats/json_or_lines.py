"""Files that may be one JSON value or one JSON object a line, whatever their name says."""

from pathlib import Path

from trivium.core.errors import BadInput
from trivium.core.reading import parse_json, read_text
from trivium.core.tables import parse_object
from trivium.formats.json_fields import Field


def read_json_or_lines(path: Path) -> list[Field]:
    """The objects of a file with an object on each of several lines, else the one value of the file.

    Raises:
        BadInput: neither (names the line).
    """
    text = read_text(path)
    lines = [(row, line) for row, line in enumerate(text.split("\n"), 1) if line.strip()]
    if len(lines) > 1 and lines[0][1].lstrip().startswith("{"):
        try:
            parse_object(lines[0][1], path, 1)
        except BadInput:
            pass  # an object over several lines, or nothing at all
        else:
            return [Field(parse_object(line, path, row), path, row) for row, line in lines]
    return [Field(parse_json(text, path), path)]
