"""Values of JSON that know where they stand: what each kind takes and refuses, with file, row and field."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from trivium.core.errors import BadInput
from trivium.formats.json_fields import Field

VALUE = {"kind": "verb", "blank": " ", "absent": None, "count": 2, "marked": True, "members": ["a", {"at": [3, 1]}]}
RECORD = Field(VALUE, Path("some.jsonl"), 4)


def span(start: Any, end: Any) -> Field:
    return Field({"place": {"start": start, "end": end}}, Path("some.jsonl"), 4)["place"]


def test_a_value_knows_the_way_to_it() -> None:
    text, inner = RECORD["members"].items()
    assert (RECORD["kind"].name, RECORD["members"].name, text.name) == ("kind", "members", "members[0]")
    last = list(inner["at"].items())[1]
    assert (last.value, last.file, last.row, last.name) == (1, Path("some.jsonl"), 4, "members[1].at[1]")


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: RECORD["other"], "field 'other': missing; got None (choices: kind, blank, absent, count, marked, m"),
        (lambda: RECORD["kind"]["of"], "field 'kind': not an object; got 'verb'; expected a JSON object"),
        (lambda: next(RECORD["kind"].items()), "field 'kind': not a list; got 'verb'"),
        (lambda: next(RECORD.items()), "not a list; expected a list"),  # the record is not shown
        (lambda: RECORD["count"].text(), "field 'count': not a text; got 2"),
        (lambda: RECORD["blank"].text(empty=False), "field 'blank': empty; got ' '"),
        (lambda: RECORD["kind"].name_of(["noun"]), "field 'kind': unknown; got 'verb' (choices: noun)"),
        (lambda: RECORD["marked"].integer(), "field 'marked': not a whole number; got True"),
        (
            lambda: span(2, 2).span("text"),
            "field 'place': empty span; got {'end': 2, 'start': 2}; expected start < end",
        ),
        (lambda: span(3, 2).span("text"), "field 'place': span is not in the text; got (3, 2); expected 0 <= start"),
    ],
)
def test_another_value_is_refused_with_its_place(ask: Callable[[], object], message: str) -> None:
    with pytest.raises(BadInput, match=rf"^some\.jsonl:4: .*{re.escape(message)}"):
        ask()


def test_a_value_of_a_whole_file_is_refused_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "some.json").write_text(json.dumps(VALUE, indent=1))
    with pytest.raises(BadInput, match=r"some\.json:8: field 'members\[0\]': not a whole number"):
        next(Field(VALUE, tmp_path / "some.json")["members"].items()).integer()
