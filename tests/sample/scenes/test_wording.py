"""Captions say what is in the scene, nothing else, in English."""

import re

import pytest

from sample.scenes.catalogue import KINDS
from sample.scenes.formats import Shot
from sample.scenes.scene import Scene
from sample.scenes.wording import kinds_named, plain

KIND_OF = {
    noun: kind.name for kind in KINDS.values() for look in kind.looks for pair in look.nouns for noun in pair.split("/")
}
KIND_OF["people"] = "person"
NOUN = re.compile(r"\b(" + "|".join(sorted(map(re.escape, KIND_OF), key=len, reverse=True)) + r")\b")


def all_captions(shots: list[Shot]) -> list[tuple[Scene, str]]:
    return [(shot.scene, caption) for shot in shots for caption in shot.captions]


def test_captions_name_only_what_is_there(many: list[Shot], flickr: list[Shot]):
    for scene, caption in all_captions(many + flickr):
        named = {KIND_OF[noun] for noun in NOUN.findall(plain(caption).lower())}
        assert named == set(kinds_named(caption))
        assert named <= set(scene.kinds)
        assert named


def test_captions_leave_out_a_twentieth(many: list[Shot]):
    named = sum(len(kinds_named(caption)) for _, caption in all_captions(many))
    assert named / sum(len(scene.kinds) for scene, _ in all_captions(many)) == pytest.approx(0.95, abs=0.01)
