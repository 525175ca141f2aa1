"""The answer as HTML: nothing a user or an article wrote becomes markup; bars and frame are where they belong."""

import base64
import io
import re

import numpy as np
import pytest
from PIL import Image

from trivium.kvqae.asking.answer import Answer, FaceFound, Recognised, Support
from trivium.page.asking import Expected, answer_html, framed
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
    html = answer_html(EVIL, Answer(EVIL, 1.0, [support({"bm25": 1.0}, mark)], None, [EVIL], {"text": 0.1}))
    assert "<script" not in html
    assert "<mark>Bern</mark>" in html
    assert html.count("&lt;script&gt;") == 5  # question, answer, note, title, text
    assert "<script" not in render("ask_problem.html", problem=EVIL)


def test_a_bar_for_each_system_that_gave_something_as_long_as_its_share():
    given = [support({"dpr_few_shot": 1.0, "arcface": -0.5, "clip": 0.0}), support({"dpr_few_shot": 0.25})]
    html = answer_html("who?", Answer("x", 1.0, given, None, [], {"text": 0.1}))
    assert re.findall(r'class="(ask-more|ask-less)" style="width:([\d.]+)%"', html) == [
        ("ask-more", "50.0"),
        ("ask-less", "25.0"),
        ("ask-more", "12.5"),
    ]
    assert "+1.00" in html
    assert "−0.50" in html
    assert "CLIP" not in html


def test_the_frame_is_around_the_face_at_any_size():
    width, height = 3000, 1500
    face = FaceFound((0.25, 0.2, 0.75, 1.2), 0.99, 1)  # a box may reach out of the picture
    image = np.asarray(picture(framed(jpeg(width, height), face)).convert("RGB")).astype(int)
    orange = (np.abs(image - (255, 149, 0)) < 60).all(axis=2)
    rows, columns = np.nonzero(orange)
    shape = np.array(image.shape[:2])
    assert max(shape) <= 480
    assert [columns.min() / shape[1], columns.max() / shape[1]] == pytest.approx([0.25, 0.75], abs=0.03)
    assert rows.min() / shape[0] == pytest.approx(0.2, abs=0.03)
    plain = np.asarray(picture(framed(jpeg(width, height), None)).convert("RGB"))
    assert (plain > 250).all()


def test_an_articles_picture_that_cannot_be_read_is_left_out():
    html = answer_html("who?", Answer("x", 1.0, [support({"clip": 1.0}, image=b"no")], None, [], {"text": 0.1}))
    assert "no picture" in html
    html = answer_html("who?", Answer("x", 1.0, [support({"clip": 1.0}, image=jpeg())], None, [], {"text": 0.1}))
    assert "data:image/jpeg" in html


def test_several_faces_are_framed_and_the_one_that_was_looked_at_has_another_colour():
    faces = [FaceFound((0.1, 0.3, 0.3, 0.8), 0.9, 2), FaceFound((0.6, 0.3, 0.8, 0.8), 0.99, 2)]
    image = np.asarray(picture(framed(jpeg(400, 200, "navy"), faces[1], faces)).convert("RGB")).astype(int)
    orange = (np.abs(image - (255, 149, 0)) < 60).all(axis=2).any(axis=0).nonzero()[0]
    white = (image > 200).all(axis=2).any(axis=0).nonzero()[0]
    assert [orange.min() / 400, orange.max() / 400] == pytest.approx([0.6, 0.8], abs=0.03)
    assert [white.min() / 400, white.max() / 400] == pytest.approx([0.1, 0.3], abs=0.03)
    html = answer_html("who?", Answer("x", 1.0, [], faces[1], [], {"text": 0.1}, jpeg(), faces=faces))
    assert "number 2 of 2 from the left" in html


@pytest.mark.parametrize(
    ("text", "alike", "said"),
    [
        (
            "the ada!",
            "Ada <L>",
            ["✓ right", 'most like that of <strong>Ada &lt;L&gt;</strong> <span class="ask-right">✓'],
        ),
        ("Bob", "Bob", ["✗ expected:</span> <strong>Ada", "✗ It shows</span> <strong>Ada &lt;L&gt;"]),
        ("Bob", "", ["The picture shows <strong>Ada &lt;L&gt;</strong>"]),
    ],
)
def test_what_is_expected_of_a_test_question_stands_beside_the_answer(text, alike, said):
    answer = Answer(text, 1.0, [], None, [], {"text": 0.1}, alike=alike)
    html = answer_html("who?", answer, Expected(("Ada", "A. <L>"), "Ada <L>"))
    for each in said:
        assert each in html
    assert "Accepted answers: Ada; A. &lt;L&gt;." in html
    assert html.count("✓") == (2 if text == "the ada!" else 0)


def test_entries_stand_first_and_become_no_markup():
    seen = [Recognised("<i>Ada</i>", 3.0, 0.875, True), Recognised("Bob", 1.0, None, False)]
    html = answer_html("who?", Answer("x", 1.0, [], None, [], {"text": 0.1}, entries=seen))
    assert "<strong>&lt;i&gt;Ada&lt;/i&gt;</strong>: 88 %</li>" in html
    assert "<strong>Bob</strong>: too few pictures for a probability, not sure</li>" in html


def test_re_rankers_have_bars_of_their_own_scale_before_the_systems():
    again = {"reranked_text": 0.25, "reranked_image": 0.125}
    shown = Support(0, "Ada", "Ada was here.", 0.375, {"bm25": 2.0, "clip": 4.0}, None, None, again)
    html = answer_html("who?", Answer("x", 1.0, [shown], None, [], {"text": 0.1}))
    assert re.findall(r'style="width:([\d.]+)%"', html) == ["50.0", "25.0", "25.0", "50.0"]
    assert re.findall(r"<dt>(.*?)</dt>", html) == [
        "re-ranked, text", "re-ranked, face and picture", "re-ranking", "text, BM25", "picture, CLIP", "retrieval"
    ]  # fmt: skip
    sums = re.findall(r'class="ask-sum">.*?</span>([^<]+)</dd>', html)
    assert sums == ["+0.38", "+6.00"]
