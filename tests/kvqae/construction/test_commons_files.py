import json

from trivium.kvqae.construction.commons import CommonsFile, read_commons

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
    (file,) = read_commons(tmp_path / "c.jsonl")
    assert file == CommonsFile("Ada Lark", "File:Ada Lark 2.jpg", "", ("Ada Lark",), ("Q7",), "cc0", "0" * 40)
    assert file.name == "Ada Lark 2.jpg"
