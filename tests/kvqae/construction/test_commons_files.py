import json

from trivium.core.tables import read_json_records
from trivium.kvqae.construction.commons import CommonsFile

FILE = {
    "category": "Ada Lark",
    "title": "File:Ada Lark 2.jpg",
    "description": "",
    "categories": ["Ada Lark"],
    "depicts": ["Q7"],
    "license": "cc0",
    "sha1": "0" * 40,
}


def test_commons_files_are_read(tmp_path):
    (tmp_path / "c.jsonl").write_text(json.dumps(FILE) + "\n")
    [(_, file)] = read_json_records(tmp_path / "c.jsonl", CommonsFile)
    assert file == CommonsFile("Ada Lark", "File:Ada Lark 2.jpg", "", ("Ada Lark",), ("Q7",), "cc0", "0" * 40)
    assert file.name == "Ada Lark 2.jpg"
