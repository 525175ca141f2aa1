"""Training pictures of the stand-in encoders: faces aligned to ArcFace's template, and unscaled photographs of things.

Their identities start at `ENCODER_IDENTITIES`, above those of all worlds; known people of a world may join them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sample.render.canvas import Dice
from sample.render.faces import portrait
from sample.render.photo import Difficulty
from sample.render.photographs import ENCODER_IDENTITIES, photograph
from sample.render.things import THINGS, thing_of
from trivium.core.engine import Engine
from trivium.vision.align import align

_SHARD = 25  # identities, so that workers have something to share
KNOWN_VIEW = 10_000  # a known person's first photograph, far above the views that illustrate questions
_LANDMARK_NOISE = 1.0  # standard deviation, in pixels, of the error of a detector's landmarks

Picture = tuple[NDArray[np.uint8], str, str]  # pixels, class, caption
Subject = tuple[int, int]  # an identity, and the first of its photographs that is used


@dataclass(frozen=True)
class Pictures:
    """Pictures (n, size, size, 3) of uint8 and, for each, the entity (from 0), its class and its caption."""

    pixels: NDArray[np.uint8]
    entities: NDArray[np.int64]
    classes: list[str]
    captions: list[str]


def draw_faces(
    engine: Engine, *, identities: int, views: int, size: int, difficulty: Difficulty, known: Sequence[int] = ()
) -> Pictures:
    """Draw aligned 112 × 112 crops of faces: first of people outside every world, then of known ones.

    Known ones, among the `identities`, are of a world; the photographs of theirs begin at `KNOWN_VIEW`.
    """
    people = _strangers(identities - len(known)) + [(identity, KNOWN_VIEW) for identity in known]
    draw = partial(_draw_faces, views=views, size=size, difficulty=difficulty)
    return _collect(engine, draw, people, views, "draw faces")


def draw_things(engine: Engine, *, identities: int, views: int, size: int, difficulty: Difficulty) -> Pictures:
    """Draw photographs of things outside every world, all kinds in turn."""
    draw = partial(_draw_things, views=views, size=size, difficulty=difficulty)
    return _collect(engine, draw, _strangers(identities), views, "draw things")


def scale_things(things: Pictures, target: int, *, identities: int, views: int) -> Pictures:
    """Take the first `identities` and `views` that `draw_things` drew, and scale them to `target` pixels."""
    drawn = len(things.entities) // len(set(things.entities.tolist()))
    chosen = [entity * drawn + view for entity in range(identities) for view in range(views)]
    photographs = (Image.fromarray(things.pixels[place]) for place in chosen)
    return Pictures(
        np.stack([np.asarray(image.resize((target, target), Image.Resampling.BICUBIC)) for image in photographs]),
        things.entities[chosen],
        [things.classes[place] for place in chosen],
        [things.captions[place] for place in chosen],
    )


def _strangers(count: int) -> list[Subject]:
    return [(identity, 0) for identity in range(ENCODER_IDENTITIES, ENCODER_IDENTITIES + count)]


def _collect(
    engine: Engine, draw: Callable[[Sequence[Subject]], list[Picture]], subjects: list[Subject], views: int, told: str
) -> Pictures:
    shards = [subjects[start : start + _SHARD] for start in range(0, len(subjects), _SHARD)]
    drawn = [picture for shard in engine.map(draw, shards, description=told) for picture in shard]
    pixels, classes, captions = zip(*drawn, strict=True)
    return Pictures(np.stack(pixels), np.repeat(np.arange(len(subjects)), views), list(classes), list(captions))


def _draw_faces(people: Sequence[Subject], *, views: int, size: int, difficulty: Difficulty) -> list[Picture]:
    drawn = []
    for identity, first in people:
        for view in range(first, first + views):
            image, landmarks = portrait(identity, view, size=size, difficulty=difficulty)
            dice = Dice("landmarks", identity, view)
            noisy = [(x + dice.bell(_LANDMARK_NOISE), y + dice.bell(_LANDMARK_NOISE)) for x, y in landmarks]
            drawn.append((align(np.asarray(image), np.array(noisy)), "person", ""))
    return drawn


def _draw_things(things: Sequence[Subject], *, views: int, size: int, difficulty: Difficulty) -> list[Picture]:
    drawn = []
    for identity, _ in things:
        kind = THINGS[identity % len(THINGS)]
        thing = thing_of(kind, identity)
        for view in range(views):
            image = photograph(kind, identity, view, size=size, difficulty=difficulty)
            drawn.append((np.asarray(image), f"{kind}: {thing.category}", thing.caption))
    return drawn
