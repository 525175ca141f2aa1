"""A model that chooses an entity: what it is sent, and what its words mean."""

import io
from pathlib import Path

import pytest
from PIL import Image

from tests.kvqae.reader.test_prompted import READER
from trivium.core.parameters import validate
from trivium.kvqae.reader.identification import INSTRUCTION, NONE, Candidate, Identifier, ask_which, choice_of
from trivium.kvqae.reader.prompted import chat_of

TITLES = ["Ada Lark", "Apollo 11", "Ada", "Café Dor"]
LIMITS = {"max_side": 32, "max_pixels": 10_000}
SETTINGS = {name: READER[name] for name in READER if name not in ("sees", "passages", "max_side")}
MODEL = validate(
    Identifier, {**SETTINGS, "endpoint": "http://localhost", "encoder": "dpr_few_shot"}, "identifier", Path()
)


@pytest.mark.parametrize(
    ("words", "number"),
    [
        ("2", 2),
        ("**1.**", 1),
        ("3. Ada, a town", 3),
        ("0", NONE),
        ("None of them.", NONE),
        ("Apollo 11", 2),  # a title, and 11 is no number of an entity
        ("It shows the Cafe\u0301 Dor.", 4),
        ("The answer is 4, I think.", 4),
        ("Ada Lark.", 1),  # another title stands inside
        ("Number 7", None),
        ("tower 3", None),  # of another name
        ("1 or 2? Ada Lark or Apollo 11", 1),
        ("Either 1 or 2", None),
        ("", None),
    ],
)
def test_what_a_reply_means(words: str, number: int | None) -> None:
    assert choice_of(words, TITLES) == number


def picture(colour: str) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (64, 48), colour).save(out, "PNG")
    return out.getvalue()


def test_the_model_sees_the_picture_the_question_and_each_name_with_its_picture() -> None:
    candidates = [
        Candidate("Ada", lambda: picture("red")),
        Candidate("Bo", None),
        Candidate("Cy", lambda: b"no picture"),
    ]
    message = ask_which(MODEL, "Who?", lambda: picture("blue"), candidates, **LIMITS)
    chat = chat_of(message, **LIMITS)
    parts = chat[0]["content"]
    assert [part.get("text", "picture") for part in parts] == [
        INSTRUCTION, "picture", "The question: Who?", "1. Ada", "picture", "2. Bo", "3. Cy",
    ]  # fmt: skip
    assert message.key == ask_which(MODEL, "Who?", lambda: picture("blue"), candidates, **LIMITS).key
    others = [
        ask_which(MODEL, "Who?", lambda: picture("green"), candidates, **LIMITS),
        ask_which(MODEL, "Who?", lambda: picture("blue"), candidates[1:], **LIMITS),
        ask_which(MODEL, "Who?", lambda: picture("blue"), candidates, **{**LIMITS, "max_side": 33}),
    ]
    assert len({message.key, *(other.key for other in others)}) == 4
