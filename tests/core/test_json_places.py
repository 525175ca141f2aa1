"""The line of a value in a JSON file."""

import pytest

from trivium.core.json_places import line_in

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


@pytest.mark.parametrize(
    ("place", "line"),
    [
        ("version", 2),
        ("data", 4),
        ("data[0].title", 4),
        ("data[1].title", 6),
        ("data[1].paragraphs[2]", 7),
        ("data[1].paragraphs[2].context", 9),  # of two, JSON takes the last
    ],
)
def test_where_a_value_begins(place: str, line: int):
    assert line_in(TEXT, place) == line


@pytest.mark.parametrize(
    ("place", "line"), [("data[1].id", 5), ("data[7]", 4), ("data.title", 4), ("version[0]", 2), ("none", 2)]
)
def test_what_is_not_there_is_where_it_would_be(place: str, line: int):
    assert line_in(TEXT, place) == line
