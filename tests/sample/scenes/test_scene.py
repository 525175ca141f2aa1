"""Scenes: who stands beside whom, boxes that fit, and the same scene without one kind."""

import hashlib
from dataclasses import replace

import numpy as np
import pytest

from sample.scenes.catalogue import COCO
from sample.scenes.formats import Shot
from sample.scenes.scene import Scene, make_scene

# Of the pixels of scenes 0-3: they change only when the drawing is changed on purpose.
SHA256 = "50cda2519dedd8e6"


def scene(number: int, **changes: float) -> Scene:
    settings = {"co_occurrence": 1.0, "colour": 0.9} | changes
    return make_scene(f"test/{number}", COCO, size=48, **settings)


def test_same_seed_same_pixels():
    pixels = b"".join(scene(number).render().tobytes() for number in range(4))
    assert hashlib.sha256(pixels).hexdigest()[:16] == SHA256


def test_two_to_four_objects_inside_the_picture(many: list[Shot]):
    for shot in many:
        assert 2 <= len(shot.scene.things) <= 4
        for thing in shot.scene.things:
            assert min(thing.left, thing.top) >= 0
            assert max(thing.left + thing.width, thing.top + thing.height) <= 48


@pytest.mark.parametrize("together", [0.0, 0.5, 1.0])
def test_planted_pairs_come_together_as_often_as_asked(together: float):
    both, either = 0, 0
    for number in range(600):
        kinds = scene(number, co_occurrence=together).kinds
        for (first,), (second,) in COCO.pairs:
            both += first in kinds and second in kinds
            either += first in kinds or second in kinds
    assert both / either == pytest.approx(together, abs=0.06)


def test_boxes_hold_all_that_is_visible_and_no_more():
    for number in range(30):
        whole = scene(number)
        for thing in whole.things:
            alone = replace(whole, things=(thing,), mounted=None)
            changed = (np.asarray(alone.render()) != np.asarray(replace(alone, things=()).render())).any(axis=2)
            rows, columns = np.flatnonzero(changed.any(axis=1)), np.flatnonzero(changed.any(axis=0))
            # An edge pixel may take the background's colour.
            assert abs(rows[0] - thing.top) <= 1
            assert abs(rows[-1] + 1 - thing.top - thing.height) <= 1
            assert abs(columns[0] - thing.left) <= 1
            assert abs(columns[-1] + 1 - thing.left - thing.width) <= 1
            changed[thing.top : thing.top + thing.height, thing.left : thing.left + thing.width] = False
            assert not changed.any()


def test_rendering_without_a_kind_changes_its_boxes_only(many: list[Shot]):
    for shot in many[:40]:
        whole = np.asarray(shot.scene.render())
        for kind in shot.scene.kinds:
            changed = (np.asarray(shot.scene.render(without=(kind,))) != whole).any(axis=2)
            assert changed.any()
            for thing in shot.scene.things:
                if thing.kind == kind:
                    changed[thing.top : thing.top + thing.height, thing.left : thing.left + thing.width] = False
            assert not changed.any()


def test_no_two_scenes_are_alike(many: list[Shot]):
    assert len({shot.scene.fingerprint() for shot in many}) == len(many)


def test_fingerprint_ignores_order_and_sees_place_and_background():
    one = scene(1)
    first, *others = one.things
    assert replace(one, things=(*others, first)).fingerprint() == one.fingerprint()
    assert replace(one, things=(replace(first, left=first.left + 1), *others)).fingerprint() != one.fingerprint()
    other = "snow" if one.background != "snow" else "grass"
    assert replace(one, background=other).fingerprint() != one.fingerprint()
