"""Scenes: who stands beside whom, boxes that fit, and the same scene without one kind."""

import hashlib
from dataclasses import replace

import numpy as np
import pytest

from sample.scenes.catalogue import COCO, FLICKR30K, KINDS, MOUNTS, Cast
from sample.scenes.formats import Shot
from sample.scenes.scene import Scene, make_scene
from sample.scenes.sprites import sprite

# Of the pixels of scenes 0-3: they change only when the drawing is changed on purpose.
SHA256 = "50cda2519dedd8e6"


def scene(number: int, **changes: float) -> Scene:
    settings = {"co_occurrence": 1.0, "colour": 0.9} | changes
    return make_scene(f"test/{number}", COCO, size=48, **settings)


def test_every_kind_can_be_drawn():
    assert set(KINDS) == set(COCO.kinds) | set(FLICKR30K.kinds)
    assert len(COCO.kinds) >= 12
    for name, kind in KINDS.items():
        for look in range(len(kind.looks)):
            for flip in (False, True):
                drawn = sprite(name, look, (kind.colours or ("white",))[0], 20, flip)
                assert 10 <= max(drawn.size) <= 20
                assert np.mean(np.asarray(drawn.getchannel("A")) > 0) > 0.25
    assert all({rider, carrier} <= set(KINDS) for rider, carrier, *_ in MOUNTS)


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


def test_usual_colours_are_usual(many: list[Shot]):
    coloured = [thing for shot in many for thing in shot.scene.things if KINDS[thing.kind].colours]
    share = np.mean([thing.colour == KINDS[thing.kind].colours[0] for thing in coloured])
    assert share == pytest.approx(0.9, abs=0.03)


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


def test_riders_overlap_what_carries_them(many: list[Shot]):
    mounted = [shot.scene for shot in many if shot.scene.mounted]
    assert mounted
    for one in mounted:
        rider, carrier, mount = one.mounted
        assert (one.things[rider].kind, one.things[carrier].kind) == mount[:2]
        assert one.things[rider].top < one.things[carrier].top + one.things[carrier].height
        assert one.things[rider].top + one.things[rider].height > one.things[carrier].top


def test_no_two_scenes_are_alike(many: list[Shot]):
    assert len({shot.scene.fingerprint() for shot in many}) == len(many)


def test_fingerprint_ignores_order_and_sees_place_and_background():
    one = scene(1)
    first, *others = one.things
    assert replace(one, things=(*others, first)).fingerprint() == one.fingerprint()
    assert replace(one, things=(replace(first, left=first.left + 1), *others)).fingerprint() != one.fingerprint()
    other = "snow" if one.background != "snow" else "grass"
    assert replace(one, background=other).fingerprint() != one.fingerprint()


@pytest.mark.parametrize("cast", [COCO, FLICKR30K])
@pytest.mark.parametrize("together", [0.0, 0.5, 1.0])
def test_every_cast_fills_its_scenes(cast: Cast, together: float):
    scenes = [make_scene(f"test/{number}", cast, size=48, co_occurrence=together, colour=0.9) for number in range(400)]
    assert {len(one.things) for one in scenes} == {2, 3, 4}
    assert {kind for one in scenes for kind in one.kinds} == set(cast.kinds)
