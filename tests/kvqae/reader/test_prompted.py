"""Readers behind an endpoint: what each kind is sent, what is paid for once, and how words are scored."""

import base64
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from tests.prompting.loopback_endpoint import Loopback, said
from trivium.core.image_shards import Images, write_images
from trivium.core.parameters import validate
from trivium.formats.questions import Question
from trivium.kvqae.reader.prompted import PromptedReader, answer_questions, measure_words
from trivium.prompting.answer_cache import AnswerCache

READER = {"label": "Tiny", "model": "tiny", "sees": "both", "run": "runs/fused", "passages": 2, "max_side": 32,
          "requests_per_minute": 60000.0, "parallel": 2, "timeout_s": 5.0, "retries": 0, "backoff_s": 0.01,
          "key_variable": None}  # fmt: skip
TEXTS = {0: ("Ada Lark", "She lived in Dor."), 1: ("Dor", "A town.")}


def question(name: str, image: str | None) -> Question:
    return Question(name, f"Where did {name} live?", ("Dor", "Dor City"), "Dor", image=image)


QUESTIONS = [question("seen", "a.png"), question("broken", "b.png"), question("missing", "c.png")]
READ = [[0, 1], [1], []]


@pytest.fixture
def pictures(tmp_path: Path) -> Images:
    out = io.BytesIO()
    Image.new("RGB", (64, 48), "red").save(out, "PNG")
    write_images(tmp_path / "images", [("a.png", out.getvalue()), ("b.png", b"no picture")])
    return Images(tmp_path / "images")


def ask(server: Loopback, folder: Path, pictures: Images | None, **changes: Any) -> tuple[list[str], Any]:
    reader = validate(PromptedReader, READER | {"endpoint": server.address} | changes, "reader", folder)
    passages = READ if reader.reads else [[]] * len(QUESTIONS)
    cache = AnswerCache(folder / "journal")
    looked_at = pictures if reader.looks else None
    return answer_questions(reader, "Say it.", QUESTIONS, passages, TEXTS, looked_at, cache, max_pixels=10_000)  # type: ignore[arg-type]


def by_question(server: Loopback) -> dict[str, Any]:
    """What was sent about each question."""
    contents = [payload["messages"][0]["content"] for payload, _, _ in server.requests]
    return {str(each).partition("Where did ")[2].split()[0]: each for each in contents}


def test_passages_alone_are_text_and_no_picture_is_read(tmp_path: Path) -> None:
    with Loopback(lambda number, payload: said("Dor.")) as server:
        answers, counts = ask(server, tmp_path, None, sees="passages")
    assert answers == ["Dor."] * 3
    assert by_question(server)["seen"] == (
        "Say it.\n\n[1] Ada Lark: She lived in Dor.\n\n[2] Dor: A town.\n\nQuestion: Where did seen live?"
    )
    assert by_question(server)["missing"] == "Say it.\n\nQuestion: Where did missing live?"
    assert (counts["asked"], counts["without_picture"]) == (3, 0)
    assert (counts["prompt_tokens"], counts["completion_tokens"]) == (30, 9)


def test_a_picture_is_sent_small_and_one_that_is_broken_is_not(tmp_path: Path, pictures: Images) -> None:
    with Loopback(lambda number, payload: said("Dor")) as server:
        answers, counts = ask(server, tmp_path, pictures)
        parts = by_question(server)["seen"]
        assert by_question(server)["broken"] == "Say it.\n\n[1] Dor: A town.\n\nQuestion: Where did broken live?"
    head, _, data = parts[0]["image_url"]["url"].partition(",")
    assert head == "data:image/jpeg;base64"
    assert Image.open(io.BytesIO(base64.b64decode(data))).size == (32, 24)
    assert parts[1]["text"].startswith("Say it.\n\n[1] Ada Lark")
    assert answers == ["Dor"] * 3
    assert counts["without_picture"] == 2


def test_the_picture_alone_is_not_asked_about_where_there_is_none(tmp_path: Path, pictures: Images) -> None:
    with Loopback(lambda number, payload: said("Dor")) as server:
        answers, counts = ask(server, tmp_path, pictures, sees="picture")
    assert answers == ["Dor", "", ""]
    assert (counts["asked"], counts["requests"], counts["without_picture"]) == (1, 1, 2)
    assert "[1]" not in str(server.requests[0][0])


def test_no_answer_is_paid_for_twice(tmp_path: Path, pictures: Images) -> None:
    with Loopback(lambda number, payload: said(f"answer {number}")) as server:
        first, _ = ask(server, tmp_path, pictures)
        again, counts = ask(server, tmp_path, pictures)
        assert (first, counts["cached"], len(server.requests)) == (again, 3, 3)
        ask(server, tmp_path, pictures, max_side=40)  # another picture is sent; two questions have none
        assert len(server.requests) == 4
        ask(server, tmp_path, pictures, model="another")
        assert len(server.requests) == 7


def test_words_that_talk_contain_the_answer_and_are_not_exact() -> None:
    values = measure_words([QUESTIONS[0]] * 4, ["Dor", "She lived in Dor City.", "In Ur.", ""])
    np.testing.assert_array_equal(values["em"], [1, 0, 0, 0])
    np.testing.assert_array_equal(values["contains"], [1, 1, 0, 0])
    # she lived in dor city: 5 words, of which 2 are right
    np.testing.assert_allclose(values["f1"], [1, 4 / 7, 0, 0])
