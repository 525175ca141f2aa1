"""The answer as HTML: nothing a user or an article wrote becomes markup; bars and frame are where they belong."""

import base64
import io

import numpy as np
import pytest
from PIL import Image

from trivium.kvqae.asking.answer import Answer, FaceFound, RecognisedEntry, Support
from trivium.page.asking import answer_html, frame_faces
from trivium.page.html import render

EVIL = "<script>alert('x')</script>&\"${alert(1)}{{ 7 * 7 }}"


def jpeg(width=200, height=100, colour="white"):
    out = io.BytesIO()
    Image.new("RGB", (width, height), colour).save(out, "JPEG")
    return out.getvalue()


def picture(address):
    return Image.open(io.BytesIO(base64.b64decode(address.split(",")[1])))


def support(contributions, mark=None, image=None):
    return Support(0, EVIL, f"{EVIL} in Bern.", sum(contributions.values()), contributions, mark, image)


def test_nothing_becomes_markup():
    mark = (len(EVIL) + 4, len(EVIL) + 8)
    html = answer_html(EVIL, Answer(EVIL, 1.0, [support({"bm25": 1.0}, mark)], None, [EVIL], 0.1))
    assert "<script" not in html
    assert "<mark>Bern</mark>" in html
    assert html.count("&lt;script&gt;") == 5  # question, answer, note, title, text
    assert "<script" not in render("ask_problem.html", problem=EVIL)


def test_the_frame_is_around_the_face_at_any_size():
    width, height = 3000, 1500
    face = FaceFound((0.25, 0.2, 0.75, 1.2), 0.99)  # a box may reach out of the picture
    image = np.asarray(picture(frame_faces(jpeg(width, height), face, [face])).convert("RGB")).astype(int)
    orange = (np.abs(image - (255, 149, 0)) < 60).all(axis=2)
    rows, columns = np.nonzero(orange)
    shape = np.array(image.shape[:2])
    assert max(shape) <= 480
    assert [columns.min() / shape[1], columns.max() / shape[1]] == pytest.approx([0.25, 0.75], abs=0.03)
    assert rows.min() / shape[0] == pytest.approx(0.2, abs=0.03)
    plain = np.asarray(picture(frame_faces(jpeg(width, height), None, [])).convert("RGB"))
    assert (plain > 250).all()


def test_an_articles_picture_that_cannot_be_read_is_left_out():
    html = answer_html("who?", Answer("x", 1.0, [support({"clip": 1.0}, image=b"no")], None, [], 0.1))
    assert "no picture" in html
    html = answer_html("who?", Answer("x", 1.0, [support({"clip": 1.0}, image=jpeg())], None, [], 0.1))
    assert "data:image/jpeg" in html


def test_entries_stand_first_and_become_no_markup():
    seen = [RecognisedEntry("<i>Ada</i>", 3.0, 0.875, True), RecognisedEntry("Bob", 1.0, None, False)]
    html = answer_html("who?", Answer("x", 1.0, [], None, [], 0.1, entries=seen))
    assert "<strong>&lt;i&gt;Ada&lt;/i&gt;</strong>: 88 %</li>" in html
    assert "<strong>Bob</strong>: too few pictures for a probability, not sure</li>" in html
