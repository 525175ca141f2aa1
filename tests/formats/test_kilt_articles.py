from pathlib import Path
from typing import Any

import pytest

from trivium.core.errors import BadInput
from trivium.core.tables import write_json_lines
from trivium.formats.kilt_articles import KiltArticle, read_articles


def record(**changes: Any) -> dict[str, Any]:
    info = {"wikidata_id": "Q1", "aliases": ["A", " "]}
    return {
        "wikipedia_id": "10",
        "wikipedia_title": "Ada",
        "text": ["Ada\n", "She was.\n"],
        "wikidata_info": info,
    } | changes


def test_an_article_is_read_with_its_entity(tmp_path: Path):
    write_json_lines(tmp_path / "a.jsonl", [record(), record(wikipedia_id="11", wikidata_info=None)])
    assert list(read_articles(tmp_path / "a.jsonl")) == [
        KiltArticle("10", "Ada", ("Ada\n", "She was.\n"), "Q1", ("A", " ")),
        KiltArticle("11", "Ada", ("Ada\n", "She was.\n"), None, ()),
    ]


def test_an_article_twice_is_refused(tmp_path: Path):
    write_json_lines(tmp_path / "a.jsonl", [record(), record()])
    with pytest.raises(BadInput, match="a.jsonl:2: field 'wikipedia_id': article twice, the first in row 1; got '10'"):
        list(read_articles(tmp_path / "a.jsonl"))
