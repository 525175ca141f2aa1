"""docs/pins.md says of every pin what it was checked against, and no more than the pins hold."""

import re
from pathlib import Path

import pytest

from trivium.sources.pins import REQUESTED, Pins

PAGE = Path(__file__).parents[2] / "docs" / "pins.md"
NAMED = re.compile(r"`([^`]+)`")
SOURCES = Pins().sources


def rows(cells: int) -> list[list[str]]:
    """The rows that begin with a name in code, of tables with so many columns."""
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    split = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [row for row in split if len(row) == cells]


PINNED = {row[0].strip("`"): row for row in rows(5)}


def test_every_pin_has_one_row_and_every_row_its_pin():
    assert sorted(row[0].strip("`") for row in rows(5)) == sorted(SOURCES)


def test_every_set_on_request_has_one_row_and_every_row_its_set():
    assert sorted(row[0].strip("`") for row in rows(3)) == sorted(Pins(REQUESTED).sources)


@pytest.mark.parametrize("name", SOURCES)
def test_a_row_names_the_files_of_its_pin(name):
    source = SOURCES[name]
    assert NAMED.findall(PINNED[name][1]) == (source.list.split() if source.list else list(source.files))
