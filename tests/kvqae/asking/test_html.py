"""The answer as HTML: nothing a user or an article wrote becomes markup; bars and frame are where they belong."""

import base64
import io
import re
import socket

import numpy as np
import pyarrow as pa
import pytest
from PIL import Image

from trivium.commands.ask_page import GRADIO, check_port, respond, samples
from trivium.core.errors import BadInput
from trivium.core.image_shards import write_images
from trivium.core.tables import write_json_lines, write_table
from trivium.kvqae.asking.answered_question import Answer, Support
from trivium.kvqae.asking.systems import FaceFound
from trivium.page.asking import COLOURS, Expected, answer_html, colours, framed, problem_html, style

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
    html = answer_html(EVIL, None, Answer(EVIL, 1.0, [support({"bm25": 1.0}, mark)], None, [EVIL], {"text": 0.1}))
    assert "<script" not in html
    assert "<mark>Bern</mark>" in html
    assert html.count("&lt;script&gt;") == 5  # question, answer, note, title, text
    assert "<script" not in problem_html(EVIL)


def test_a_bar_for_each_system_that_gave_something_as_long_as_its_share():
    given = [support({"dpr_few_shot": 1.0, "arcface": -0.5, "clip": 0.0}), support({"dpr_few_shot": 0.25})]
    html = answer_html("who?", None, Answer("x", 1.0, given, None, [], {"text": 0.1}))
    assert re.findall(r'class="(ask-more|ask-less)" style="width:([\d.]+)%"', html) == [
        ("ask-more", "50.0"),
        ("ask-less", "25.0"),
        ("ask-more", "12.5"),
    ]
    assert "+1.00" in html
    assert "−0.50" in html
    assert "CLIP" not in html


def test_no_passage_and_no_picture():
    html = answer_html("who?", None, Answer("", 0.0, [], None, ["Nothing matches."], {"text": 0.1}))
    assert "(no answer)" in html
    assert "<img" not in html


@pytest.mark.parametrize(("width", "height"), [(200, 100), (3000, 1500)])
def test_the_frame_is_around_the_face_at_any_size(width, height):
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
    html = answer_html("who?", None, Answer("x", 1.0, [support({"clip": 1.0}, image=b"no")], None, [], {"text": 0.1}))
    assert "no picture" in html
    html = answer_html("who?", None, Answer("x", 1.0, [support({"clip": 1.0}, image=jpeg())], None, [], {"text": 0.1}))
    assert "data:image/jpeg" in html


def test_several_faces_are_framed_and_the_one_that_was_looked_at_has_another_colour():
    faces = [FaceFound((0.1, 0.3, 0.3, 0.8), 0.9, 2), FaceFound((0.6, 0.3, 0.8, 0.8), 0.99, 2)]
    image = np.asarray(picture(framed(jpeg(400, 200, "navy"), faces[1], faces)).convert("RGB")).astype(int)
    orange = (np.abs(image - (255, 149, 0)) < 60).all(axis=2).any(axis=0).nonzero()[0]
    white = (image > 200).all(axis=2).any(axis=0).nonzero()[0]
    assert [orange.min() / 400, orange.max() / 400] == pytest.approx([0.6, 0.8], abs=0.03)
    assert [white.min() / 400, white.max() / 400] == pytest.approx([0.1, 0.3], abs=0.03)
    html = answer_html("who?", jpeg(), Answer("x", 1.0, [], faces[1], [], {"text": 0.1}, faces=faces))
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
    html = answer_html("who?", None, answer, Expected(("Ada", "A. <L>"), "Ada <L>"))
    for each in said:
        assert each in html
    assert "Accepted answers: Ada; A. &lt;L&gt;." in html
    assert html.count("✓") == (2 if text == "the ada!" else 0)


def test_nothing_is_expected_of_a_question_of_ones_own():
    html = answer_html("who?", None, Answer("x", 1.0, [], None, [], {"text": 0.1}, alike="Bob"))
    assert "The picture is most like that of <strong>Bob</strong>." in html
    for said in ("ask-expected", "✓", "✗"):
        assert said not in html


def test_colours_are_the_reports(monkeypatch):
    for name, value in GRADIO.items():
        monkeypatch.setenv(name, value)
    import gradio

    assert "var(--body-text-color)" in style()
    assert re.findall(r"url\(|@import", style()) == []
    theme = gradio.themes.Default().set(**colours())
    for name, light, dark in (
        ("body_background_fill", "#fdfcfa", "#14171b"),
        ("link_text_color", "#0b5e8a", "#7cc4ec"),
    ):
        assert (getattr(theme, name), getattr(theme, f"{name}_dark")) == (light, dark)
    assert {f"{name}_dark" for name in COLOURS} <= colours().keys()
    good = re.findall(r"--ask-good:(#[0-9a-f]+)", style())
    assert good == ["#1c7c3c", "#7fd99a"]


def test_re_rankers_have_bars_of_their_own_scale_before_the_systems():
    again = {"reranked_text": 0.25, "reranked_image": 0.125}
    shown = Support(0, "Ada", "Ada was here.", 0.375, {"bm25": 2.0, "clip": 4.0}, None, None, again)
    html = answer_html("who?", None, Answer("x", 1.0, [shown], None, [], {"text": 0.1}))
    assert re.findall(r'style="width:([\d.]+)%"', html) == ["50.0", "25.0", "25.0", "50.0"]
    assert re.findall(r"<dt>(.*?)</dt>", html) == [
        "re-ranked, text", "re-ranked, face and picture", "re-ranking", "text, BM25", "picture, CLIP", "retrieval"
    ]  # fmt: skip
    sums = re.findall(r'class="ask-sum">.*?</span>([^<]+)</dd>', html)
    assert sums == ["+0.38", "+6.00"]


class Listening:
    def __init__(self):
        self.heard = []

    def ask(self, question, image, *, rerank):
        self.heard.append((question, rerank))
        return Answer("x", 1.0, [], None, [], {"text": 0.1})


@pytest.mark.parametrize(("typed", "heard"), [("who \ud800 is this?", "who ? is this?"), (None, ""), ("who?", "who?")])
def test_half_a_character_and_no_text_at_all_reach_the_pipeline_as_text(tmp_path, typed, heard):
    asker = Listening()
    html = respond(asker, typed, None, False, tmp_path)
    assert asker.heard == [(heard, False)]
    html.encode()  # what the page sends


class Refusing:
    def ask(self, question, image, *, rerank):
        raise BadInput(f"no {EVIL}")


def test_a_problem_is_shown_as_text_and_a_lost_upload_is_said(tmp_path):
    assert respond(Refusing(), "who?", None, True, tmp_path) == problem_html(f"no {EVIL}")
    assert "choose it again" in respond(Refusing(), "who?", str(tmp_path / "gone.jpg"), True, tmp_path)


@pytest.mark.parametrize("path", ["secret.jpg", "uploads/../secret.jpg", "uploads/link.jpg", "uploads2/secret.jpg", ""])
def test_what_lies_outside_the_uploads_is_no_upload(tmp_path, path):
    for folder in ("uploads", "uploads2"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "secret.jpg").write_bytes(b"secret")
    (tmp_path / "secret.jpg").write_bytes(b"secret")
    (tmp_path / "uploads/link.jpg").symlink_to(tmp_path / "secret.jpg")
    assert "choose it again" in respond(Refusing(), "who?", str(tmp_path / path), False, tmp_path / "uploads")
    inside = respond(Refusing(), "who?", str(tmp_path / "uploads/secret.jpg"), False, tmp_path / "uploads")
    assert inside == problem_html(f"no {EVIL}")


class Answering(Listening):
    def ask(self, question, image, *, rerank):
        return Answer("Ada", 1.0, [], None, [], {"text": 0.1}, picture=image)


def test_a_sample_is_known_by_its_question_and_its_picture(tmp_path):
    data, uploads = tmp_path / "data/kvqae", tmp_path / "uploads"
    uploads.mkdir()
    pictures = {f"{number}.jpg": jpeg(colour=colour) for number, colour in enumerate(("red", "blue"))}
    (data / "raw/viquae").mkdir(parents=True)
    records = [
        {"id": f"q{number}", "input": "Who is this?", "image": f"{number}.jpg", "wikidata_id": f"Q{number}",
         "kilt_id": str(number), "url": "", "original_question": "?", "meta": {},
         "output": {"original_answer": name, "answer": [name], "provenance": []}}
        for number, name in enumerate(("Ada", "Bob", "Cyd"))
    ]  # fmt: skip
    write_json_lines(data / "raw/viquae/test.jsonl", records)
    write_images(data / "raw/images/questions", pictures.items())
    write_table(data / "kb/articles.parquet", pa.table({"wikipedia_id": ["0"], "title": ["Ada L."]}))
    known = samples(tmp_path, "raw", uploads)
    assert [question for _, question in known.examples] == ["Who is this?"] * 2, "the third has no picture"
    (ada, _), (bob, _) = known.examples
    assert "✓ right" in respond(Answering(), " Who is this? ", ada, True, uploads, known.expected)
    assert "The picture shows <strong>Ada L.</strong>" in respond(
        Answering(), "Who is this?", ada, True, uploads, known.expected
    )
    said = respond(Answering(), "Who is this?", bob, True, uploads, known.expected)
    assert "✗ expected:</span> <strong>Bob" in said
    assert "The picture shows" not in said, "no article is about it"
    assert "ask-expected" not in respond(Answering(), "Who else is this?", ada, True, uploads, known.expected)
    assert "ask-expected" not in respond(Answering(), "Who is this?", None, True, uploads, known.expected)


def test_samples_need_the_data(tmp_path):
    with pytest.raises(BadInput, match="run `make repro` first"):
        samples(tmp_path, "raw", tmp_path)


def test_a_port_that_is_taken_or_impossible_is_said_before_anything_is_loaded():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(BadInput, match=f"cannot be served there: .*in use; got .*{port}"):
            check_port("127.0.0.1", port)
    check_port("127.0.0.1", port)
    for host, number in (("127.0.0.1", 70_000), ("192.0.2.1", 7860)):
        with pytest.raises(BadInput, match="cannot be served there"):
            check_port(host, number)
