import json
from dataclasses import replace

import pyarrow as pa
import pytest

from trivium.core.errors import BadInput
from trivium.core.tables import write_table
from trivium.kvqae.construction.commons import CommonsFile, read_commons
from trivium.kvqae.construction.mentions import MENTION_SCHEMA, Mention, mention_batch, read_mentions

TEXT = "Where was Ada Lark's father born?"
MENTION = Mention("tc_1", TEXT, 10, 18, "PERSON", "poss", 10, 20, True, "father")
FILE = {
    "category": "Ada Lark",
    "title": "File:Ada Lark 2.jpg",
    "description": "",
    "categories": ["Ada Lark"],
    "depicts": ["Q7"],
    "license": "cc0",
    "sha1": "0" * 40,
}


def test_mentions_go_through_their_table(tmp_path):
    write_table(tmp_path / "m.parquet", [mention_batch([MENTION]), mention_batch([])], MENTION_SCHEMA)
    assert read_mentions(tmp_path / "m.parquet") == [MENTION]
    assert MENTION.surface == "Ada Lark"
    assert MENTION.key == "tc_1_10"


def test_further_columns_are_left_alone(tmp_path):
    table = pa.Table.from_batches([mention_batch([MENTION])]).append_column("title", [["Ada Lark"]])
    write_table(tmp_path / "m.parquet", table)
    assert read_mentions(tmp_path / "m.parquet") == [MENTION]


@pytest.mark.parametrize("change", [{"end": 10}, {"subtree_start": 11}, {"subtree_end": 99}, {"start": -1}])
def test_offsets_lie_in_the_text(tmp_path, change):
    write_table(tmp_path / "m.parquet", [mention_batch([replace(MENTION, **change)])], MENTION_SCHEMA)
    with pytest.raises(BadInput, match="m.parquet:1: .*offsets outside the text"):
        read_mentions(tmp_path / "m.parquet")


def test_commons_files_are_read(tmp_path):
    (tmp_path / "c.jsonl").write_text(json.dumps(FILE) + "\n")
    (file,) = read_commons(tmp_path / "c.jsonl")
    assert file == CommonsFile("Ada Lark", "File:Ada Lark 2.jpg", "", ("Ada Lark",), ("Q7",), "cc0", "0" * 40)
    assert file.name == "Ada Lark 2.jpg"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("title", "Ada.jpg"),
        ("title", "File:"),
        ("sha1", "x"),
        ("depicts", "Q7"),
        ("categories", [1]),
        ("license", None),
    ],
)
def test_a_bad_commons_file_is_named(tmp_path, field, value):
    (tmp_path / "c.jsonl").write_text(json.dumps(FILE | {field: value}) + "\n")
    with pytest.raises(BadInput, match=f"c.jsonl:1: field '{field}"):
        list(read_commons(tmp_path / "c.jsonl"))
