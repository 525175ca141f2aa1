"""Readers of InfoSeek and Encyclopedic-VQA, and the pictures that they name."""

import json
from pathlib import Path

import pytest

from trivium.core.errors import BadInput
from trivium.formats.visual_questions import (
    VisualQuestion,
    pictures_by_name,
    read_encyclopedic_vqa,
    read_infoseek,
)

SEEK = {"data_id": "infoseek_val_1", "image_id": "oven_1", "question": "Where?", "answer": ["Ur"],
        "answer_eval": ["Ur", "City of Ur"], "data_split": "val_unseen_question"}  # fmt: skip
TALL = SEEK | {"data_id": "infoseek_val_2", "answer_eval": [{"wikidata": 10.0, "range": [9.0, 11.0]}]}
ENCYCLOPEDIC = "question,answer,dataset_name,dataset_image_ids,question_type,evidence\n"


def write_lines(path: Path, records: list[object]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_infoseek_has_texts_and_ranges(tmp_path: Path) -> None:
    other = TALL | {"data_id": "infoseek_val_3", "answer_eval": {"wikidata": -1, "range": [-0.9, -1.1]}}
    path = write_lines(tmp_path / "infoseek_val.jsonl", [SEEK, TALL, other])
    first, second, third = read_infoseek(path)
    assert first == VisualQuestion(
        "infoseek_val_1", "Where?", "oven_1", "string", "val_unseen_question", ("Ur", "City of Ur")
    )
    assert (second.kind, second.range, second.answers) == ("numerical", (9.0, 11.0), ("9 to 11",))
    assert third.range == (-1.1, -0.9)
    write_lines(tmp_path / "infoseek_val_qtype.jsonl", [{"data_id": "infoseek_val_1", "question_type": "Time"}])
    assert [each.kind for each in read_infoseek(path)] == ["time", "numerical", "numerical"]
    twice = [{"data_id": "infoseek_val_1", "question_type": kind} for kind in ("Time", "String")]
    write_lines(tmp_path / "infoseek_val_qtype.jsonl", twice)
    with pytest.raises(
        BadInput, match="infoseek_val_qtype.jsonl:2: field 'data_id': question twice, the first in row 1"
    ):
        read_infoseek(path)


def test_encyclopedic_vqa_asks_about_every_picture(tmp_path: Path) -> None:
    path = tmp_path / "val.csv"
    path.write_text(
        ENCYCLOPEDIC + "What?,oak|the oak,landmarks,a1|b2,templated,x\nWho?,owl&&fox,inat,7,multi_answer,\n"
    )
    assert read_encyclopedic_vqa(path) == [
        VisualQuestion("1:a1", "What?", "a1", "templated", "landmarks", ("oak", "the oak")),
        VisualQuestion("1:b2", "What?", "b2", "templated", "landmarks", ("oak", "the oak")),
        VisualQuestion("2:7", "Who?", "7", "multi_answer", "inat", ("owl&&fox",)),
    ]


def test_pictures_have_one_name_each(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no such folder"):
        pictures_by_name(tmp_path / "none")
    with pytest.raises(BadInput, match="no pictures"):
        pictures_by_name(tmp_path)
    (tmp_path / "a").mkdir()
    (tmp_path / "a/x.JPG").touch()
    assert pictures_by_name(tmp_path) == {"x": tmp_path / "a/x.JPG"}
    (tmp_path / "x.png").touch()
    with pytest.raises(BadInput, match="two pictures of one name"):
        pictures_by_name(tmp_path)
