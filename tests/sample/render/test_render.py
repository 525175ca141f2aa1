"""The same picture everywhere, of what its caption says."""

import hashlib

import pytest

from sample.render.photo import encode
from sample.render.photographs import KINDS, render
from sample.render.things import thing_of

# Of the files of identity 7's photograph 1, 96 pixels, of every kind: changes only when a drawing does on purpose.
SHA256 = "23b57ff76074974a"


def test_bytes_are_the_ones_stored(difficulty):
    files = b"".join(encode(render(kind, 7, 1, size=96, difficulty=difficulty)) for kind in KINDS)
    assert hashlib.sha256(files).hexdigest()[:16] == SHA256


@pytest.mark.parametrize("kind", KINDS)
def test_pictures_depend_on_identity_and_view_only(kind, difficulty):
    def draw(identity, view):
        return render(kind, identity, view, size=64, difficulty=difficulty)

    first = draw(1, 1)
    assert (first.size, first.mode) == ((64, 64), "RGB")
    assert draw(1, 2) != first != draw(2, 1)
    thing_of.cache_clear()
    assert draw(1, 1) == first
