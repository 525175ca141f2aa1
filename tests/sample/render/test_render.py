"""The same picture everywhere: seeds, kinds, sizes, and stored hashes of the bytes."""

import hashlib
import io
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image
from pydantic import ValidationError

from sample.render.difficulty import Difficulty
from sample.render.faces import shows_face
from sample.render.photo import encode
from sample.render.photographs import KINDS, describe, render
from sample.render.traits import is_woman

# Of the encoded file: identity 7, photograph 1, 96 pixels. They change only when the drawing is changed on purpose.
SHA256 = {
    "person": "11be6f16cff06a5b",
    "flag": "b0a15d823f81d29a",
    "coat_of_arms": "381dc5d97cd04d96",
    "logo": "3ec26e03cdc482ad",
    "ship": "b96cf69614a4c4ea",
    "bridge": "6bd5c6f377ec3bc8",
    "building": "54d04c3a9dab3bf7",
    "landscape": "ed1cd656d8d60d1e",
    "animal": "7f9abe9a572e453a",
    "instrument": "a0153738d4fca027",
}


@pytest.mark.parametrize("kind", KINDS)
def test_bytes_are_the_ones_stored(kind, difficulty):
    data = encode(render(kind, 7, 1, size=96, difficulty=difficulty))
    assert hashlib.sha256(data).hexdigest()[:16] == SHA256[kind]


def test_another_process_draws_the_same_bytes(difficulty):
    script = (
        "import hashlib; from sample.render.photographs import *; from sample.render.photo import encode\n"
        f"d = Difficulty.model_validate_json('{difficulty.model_dump_json()}')\n"
        "print(hashlib.sha256(b''.join(encode(render(k, 3, 2, size=64, difficulty=d)) for k in KINDS)).hexdigest())"
    )
    elsewhere = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout.strip()
    here = b"".join(encode(render(kind, 3, 2, size=64, difficulty=difficulty)) for kind in KINDS)
    assert elsewhere == hashlib.sha256(here).hexdigest()


@pytest.mark.parametrize("kind", KINDS)
def test_pictures_depend_on_identity_and_view_only(kind, difficulty):
    def bytes_of(identity, view):
        return encode(render(kind, identity, view, size=64, difficulty=difficulty))

    first = bytes_of(1, 1)
    bytes_of(5, 5)
    assert bytes_of(1, 1) == first
    assert bytes_of(1, 2) != first
    assert bytes_of(2, 1) != first
    image = Image.open(io.BytesIO(first))
    assert (image.size, image.mode) == ((64, 64), "RGB")


def test_an_easy_world_shows_the_same_design_in_every_photograph():
    easy = Difficulty(
        identity_spread=1, pose=0, crop=0, light=0, noise=0, occlusion=0, disguise=0, faceless=0, company=0
    )
    middle = [
        np.asarray(render("logo", 4, view, size=96, difficulty=easy), dtype=int)[40:56, 40:56] for view in (1, 2, 3)
    ]
    assert max(abs(middle[0] - middle[1]).max(), abs(middle[0] - middle[2]).max()) <= 12  # JPEG, whatever the wall


def test_faceless_photographs_come_at_the_given_rate(difficulty):
    hidden = sum(not shows_face(identity, 1, difficulty) for identity in range(4000))
    assert abs(hidden / 4000 - 0.08) < 3 * (0.08 * 0.92 / 4000) ** 0.5
    assert all(shows_face(identity, 1, difficulty.model_copy(update={"faceless": 0})) for identity in range(50))


def test_captions_tell_what_is_drawn():
    assert [describe("person", identity) for identity in (2, 3)] == ["a woman", "a man"]
    assert is_woman(2)
    assert describe("ship", 5).startswith("a ")
    assert len({describe("flag", identity) for identity in range(40)}) > 35


def test_bad_input(difficulty):
    with pytest.raises(ValueError, match=r"unknown kind 'spoon' \(choices: person, flag"):
        render("spoon", 0, 0, size=64, difficulty=difficulty)
    with pytest.raises(ValidationError, match="pose"):
        Difficulty.model_validate({**difficulty.model_dump(), "pose": 1.5})
