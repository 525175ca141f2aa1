"""The line of a value in a JSON file."""

import json
from pathlib import Path

import pytest

from trivium.formats.json_places import line_of

TEXT = """
{"version": "1, [{\\"x",
 "data":
 [ {"title": "a"},
   {"title":
      "é", "paragraphs": [ [], {},
     {"context" : "b",
      "context" :
        "c"}]}
 ]
}
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "set.json"
    path.write_text(TEXT, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("place", "line"),
    [
        ("", 2),
        ("version", 2),
        ("data", 4),
        ("data[0].title", 4),
        ("data[1]", 5),
        ("data[1].title", 6),
        ("data[1].paragraphs[1]", 6),
        ("data[1].paragraphs[2]", 7),
        ("data[1].paragraphs[2].context", 9),  # of two, JSON takes the last
    ],
)
def test_where_a_value_begins(path: Path, place: str, line: int):
    assert line_of(path, place) == line


@pytest.mark.parametrize(
    ("place", "line"), [("data[1].id", 5), ("data[7]", 4), ("data.title", 4), ("version[0]", 2), ("none", 2)]
)
def test_what_is_not_there_is_where_it_would_be(path: Path, place: str, line: int):
    assert line_of(path, place) == line


@pytest.mark.parametrize("indent", [None, 0, 1])
def test_every_value_of_a_set_is_found(path: Path, indent: int | None):
    data = [{"paragraphs": [{"qas": [{"id": f"q{a}{p}{n}"} for n in range(2)]} for p in range(3)]} for a in range(2)]
    path.write_text(json.dumps({"data": data}, indent=indent))
    lines = path.read_text().splitlines()
    for a in range(2):
        for p in range(3):
            for n in range(2):
                assert f"q{a}{p}{n}" in lines[line_of(path, f"data[{a}].paragraphs[{p}].qas[{n}].id") - 1]
