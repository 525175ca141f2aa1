"""The same picture everywhere, of what its caption says."""

import hashlib

import numpy as np
import pytest
from pydantic import ValidationError

from sample.render.difficulty import Difficulty
from sample.render.faces import shows_face
from sample.render.photo import encode
from sample.render.photographs import KINDS, render
from sample.render.things import THINGS, kind_of, thing_of

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


@pytest.mark.parametrize("name", THINGS)
def test_every_sort_of_a_kind_is_drawn_and_named(name):
    things = [thing_of(name, identity) for identity in range(120)]
    assert {thing.category for thing in things} == set(kind_of(name).sorts)
    assert all("{" not in thing.caption for thing in things)
    points = np.array([point for thing in things for shape in thing.shapes for point in shape.points])
    assert abs(points).max() < 3
    shown = [thing.shapes for thing in things]
    assert all(shown.count(shapes) == 1 for shapes in shown)


def test_an_easy_world_shows_the_same_design_in_every_photograph():
    nothing = dict.fromkeys(Difficulty.model_fields, 0) | {"identity_spread": 1}
    easy = Difficulty.model_validate(nothing)
    views = [render("logo", 4, view, size=96, difficulty=easy) for view in (1, 2)]
    first, second = (np.asarray(view, dtype=int)[40:56, 40:56] for view in views)
    assert abs(first - second).max() <= 12  # JPEG, whatever the wall


def test_faceless_photographs_come_at_the_given_rate(difficulty):
    hidden = sum(not shows_face(identity, 1, difficulty) for identity in range(4000))
    assert abs(hidden / 4000 - 0.08) < 3 * (0.08 * 0.92 / 4000) ** 0.5


def test_bad_input(difficulty):
    with pytest.raises(ValueError, match=r"unknown kind 'spoon' \(choices: person, flag"):
        render("spoon", 0, 0, size=64, difficulty=difficulty)
    with pytest.raises(ValidationError, match="pose"):
        Difficulty.model_validate({**difficulty.model_dump(), "pose": 1.5})
