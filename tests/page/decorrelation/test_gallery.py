"""Figure 3's parts: marked sentences and outlined pictures."""

import random

import numpy as np
import pyarrow as pa

from trivium.core.tables import write_table
from trivium.page.decorrelation.gallery import clearest, sentence
from trivium.page.html import half_each
from trivium.page.inline_pictures import outline

TEXT = "Two dogs fight over a frisbee near a car"
PHRASES = [
    {"start": 0, "end": 8, "classes": ["dog"]},
    {"start": 20, "end": 29, "classes": ["frisbee"]},
    {"start": 35, "end": 40, "classes": ["car"]},
]


def told(phrases=PHRASES, classes=("dog",), removed=("frisbee",), present=("dog",), text=TEXT):
    row = {"text": text, "phrases": phrases, "classes": classes}
    return sentence(row, set(removed), set(present))


def test_phrases_are_marked_by_what_they_say_about_the_picture():
    assert told()["pieces"] == [
        *(("", ""), ("Two dogs", "present"), (" fight over ", ""), ("a frisbee", "gone")),
        *((" near ", ""), ("a car", "absent"), ("", "")),
    ]
    within = told([*PHRASES, {"start": 4, "end": 8, "classes": ["frisbee"]}])["pieces"]
    assert "".join(text for text, _ in within) == TEXT
    assert [status for _, status in within if status] == ["present", "gone", "absent"]
    both = told([{"start": 0, "end": 11, "classes": ["dog", "frisbee"]}], text="dog frisbee")["pieces"]
    assert ("dog frisbee", "gone") in both


def test_right_is_what_odmap_calls_correct():
    assert told(classes=["dog", "car"])["right"]
    for wrong in (["dog", "frisbee"], ["car"], []):
        assert not told(classes=wrong)["right"]


def test_half_of_the_drawn_are_failures_as_far_as_there_are():
    def draw(wrong, right, seed=0):
        return half_each(range(wrong), range(100, 100 + right), 8, random.Random(seed))

    drawn = draw(10, 30)
    assert sum(number < 100 for number in drawn) == 4
    assert len(set(drawn)) == 8
    assert drawn == draw(10, 30) != draw(10, 30, seed=1)
    assert [len(draw(*sides)) for sides in ((1, 30), (30, 1), (1, 1))] == [8, 8, 2]


def test_the_outline_follows_the_mask_inside():
    mask = np.zeros((9, 9), dtype=bool)
    mask[2:7, 2:7] = True
    expected = mask.copy()
    expected[3:6, 3:6] = False
    assert (outline(mask, 1) == expected).all()
    assert not outline(np.ones((4, 4), dtype=bool), 2).any()  # a picture's edge is no border


def test_the_example_names_nothing_that_was_never_there(tmp_path):
    captions = {1: ["dog"], 2: ["dog", "car"], 3: ["car"], 4: ["dog", "tree"]}
    best = {"a": [1, 2], "b": [1, 3], "c": [4, 1], "d": [1, 1]}
    phrases = [{"caption": key, "phrases": [{"classes": [name]} for name in named]} for key, named in captions.items()]
    removals = [{"removal": query, "removed": ["frisbee"], "remaining": ["dog", "tree"]} for query in best]
    lists = [{"query": query, "captions": ids} for query, ids in best.items()]
    write_table(tmp_path / "phrases/coco.parquet", pa.Table.from_pylist(phrases))
    write_table(tmp_path / "removals/coco/removals.parquet", pa.Table.from_pylist(removals))
    write_table(tmp_path / "retrieved/ours/synthetic.parquet", pa.Table.from_pylist(lists))
    assert clearest("abd", tmp_path, "coco", "ours") == "d"
    assert clearest("abcd", tmp_path, "coco", "ours") == "c", "it names more that is there"
