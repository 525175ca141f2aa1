"""Figure 3's parts: marked sentences, the draw, and outlined pictures."""

import base64
import io

import numpy as np
import pyarrow as pa
from PIL import Image

from trivium.page.decorrelation.gallery import Piece, draw, pieces, sentence
from trivium.page.inline_pictures import outline, outlined, scaled

TEXT = "Two dogs fight over a frisbee near a car"
PHRASES = [
    {"start": 0, "end": 8, "classes": ["dog"]},
    {"start": 20, "end": 29, "classes": ["frisbee"]},
    {"start": 35, "end": 40, "classes": ["car"]},
]


def test_phrases_are_marked_by_what_they_say_about_the_picture():
    found = pieces(TEXT, PHRASES, {"frisbee"}, {"dog"}, 100)
    assert found == [
        Piece("Two dogs", "present"),
        Piece(" fight over ", ""),
        Piece("a frisbee", "gone"),
        Piece(" near ", ""),
        Piece("a car", "absent"),
    ]
    assert "".join(each.text for each in found) == TEXT


def test_a_long_sentence_is_cut_and_overlapping_phrases_are_passed_over():
    found = pieces(TEXT, [*PHRASES, {"start": 4, "end": 8, "classes": ["frisbee"]}], {"frisbee"}, {"dog"}, 25)
    assert "".join(each.text for each in found) == TEXT[:25] + "…"
    assert [each.status for each in found] == ["present", ""]


def test_a_phrase_with_a_removed_and_a_present_class_counts_as_gone():
    (piece,) = pieces("dog frisbee", [{"start": 0, "end": 11, "classes": ["dog", "frisbee"]}], {"frisbee"}, {"dog"}, 99)
    assert piece.status == "gone"


def test_right_is_what_odmap_calls_correct():
    def right(classes, removed, present):
        return sentence({"text": TEXT, "phrases": PHRASES, "classes": classes}, removed, present, 99)["right"]

    assert right(["dog", "car"], {"frisbee"}, {"dog"})
    assert not right(["dog", "frisbee"], {"frisbee"}, {"dog"})
    assert not right(["car"], {"frisbee"}, {"dog"})
    assert not right([], {"frisbee"}, {"dog"})


def table(values):
    names = [f"q{number}" for number in range(len(values))]
    count = len(values)
    return pa.table({"cell": ["c"] * count, "set": ["synthetic"] * count, "query": names, "odmap@1": values})


def test_half_of_the_drawn_are_failures_as_far_as_there_are():
    values = [0.0] * 10 + [1.0] * 30
    drawn = draw(table(values), "c", 8, seed=0)
    assert sum(int(name[1:]) < 10 for name in drawn) == 4
    assert len(set(drawn)) == 8
    assert drawn == draw(table(values), "c", 8, seed=0) != draw(table(values), "c", 8, seed=1)
    assert len(draw(table([0.0] + [1.0] * 30), "c", 8, seed=0)) == 8
    assert len(draw(table([1.0] + [0.0] * 30), "c", 8, seed=0)) == 8
    assert len(draw(table([1.0, 0.0]), "c", 8, seed=0)) == 2


def test_the_outline_follows_the_mask_inside():
    mask = np.zeros((9, 9), dtype=bool)
    mask[2:7, 2:7] = True
    expected = mask.copy()
    expected[3:6, 3:6] = False
    assert (outline(mask, 1) == expected).all()
    assert not outline(np.ones((4, 4), dtype=bool), 2).any()  # a picture's edge is no border


def test_pictures_are_scaled_up_and_down_and_outlined():
    assert scaled(Image.new("RGB", (64, 32)), 192).size == (192, 96)
    assert scaled(Image.new("RGB", (900, 1)), 192).size == (192, 1)
    data = io.BytesIO()
    Image.new("RGB", (64, 48), "#888888").save(data, "PNG")
    mask = np.zeros((48, 64), dtype=bool)
    mask[10:30, 20:50] = True
    address, size = outlined(data.getvalue(), 128, mask)
    shown = np.asarray(Image.open(io.BytesIO(base64.b64decode(address.partition(",")[2]))))
    assert (size, shown.shape) == ((128, 96), (96, 128, 3))
    assert shown[40, 70].tolist() == [136, 136, 136]  # inside
    assert shown[20:24, 44:96].astype(int).std() > 20  # its border


def test_a_broken_picture_is_none():
    assert outlined(b"not a picture", 128) is None
