"""Training pictures of the stand-in encoders: faces aligned to the template, things as photographed, to be scaled.

Their identities start at `ENCODER_IDENTITIES`, where no world draws any; known people of a world may join them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sample.render.canvas import Dice
from sample.render.difficulty import Difficulty
from sample.render.faces import portrait
from sample.render.photographs import ENCODER_IDENTITIES
from sample.render.scenes import photograph
from sample.render.things import THINGS, thing_of
from trivium.core.engine import Engine
from trivium.vision.align import align

# Identities a shard, so that workers have something to share.
_SHARD = 25


@dataclass(frozen=True)
class Pictures:
    """Pictures (n, size, size, 3) of uint8 and, for each, the entity (from 0), its class and its caption."""

    pixels: NDArray[np.uint8]
    entities: NDArray[np.int64]
    classes: list[str]
    captions: list[str]


@dataclass(frozen=True)
class _Order:
    identities: Sequence[int]
    views: range
    size: int
    difficulty: Difficulty
    landmark_noise: float = 0.0


def draw_faces(
    engine: Engine, *, identities: int, views: int, size: int, difficulty: Difficulty, landmark_noise: float,
    known: Sequence[int] = (), known_from: int = 0,
) -> Pictures:  # fmt: skip
    """Aligned 112×112 crops of people: strangers to every world first, then known ones.

    Args:
        engine: where shards are drawn.
        identities, views: people, known ones included, and photographs of each.
        size: side of the photographs that the crops come from.
        difficulty: how far photographs differ.
        landmark_noise: standard deviation, in pixels, of what a detector's landmarks are off.
        known: identities of a world.
        known_from: the first of their photographs that is used.
    """
    order = _Order((), range(views), size, difficulty, landmark_noise)
    anew = replace(order, identities=known, views=range(known_from, known_from + views))
    strangers = replace(order, identities=_strangers(identities - len(known)))
    return _collect(engine, _faces_of, [strangers, anew], "draw faces")


def draw_things(engine: Engine, *, identities: int, views: int, size: int, difficulty: Difficulty) -> Pictures:
    """Photographs of other things, all kinds in turn."""
    order = _Order(_strangers(identities), range(views), size, difficulty)
    return _collect(engine, _things_of, [order], "draw things")


def scaled(things: Pictures, target: int, *, identities: int, views: int) -> Pictures:
    """The first `identities` and `views` of what `draw_things` drew, scaled to `target` pixels as an encoder does."""
    drawn = len(things.entities) // len(set(things.entities.tolist()))
    chosen = [entity * drawn + view for entity in range(identities) for view in range(views)]
    photographs = (Image.fromarray(things.pixels[place]) for place in chosen)
    return Pictures(
        np.stack([np.asarray(image.resize((target, target), Image.Resampling.BICUBIC)) for image in photographs]),
        things.entities[chosen],
        [things.classes[place] for place in chosen],
        [things.captions[place] for place in chosen],
    )


def _strangers(count: int) -> range:
    return range(ENCODER_IDENTITIES, ENCODER_IDENTITIES + count)


def _collect(
    engine: Engine, draw: Callable[[_Order], Pictures], orders: Sequence[_Order], description: str
) -> Pictures:
    parts = [
        replace(order, identities=order.identities[start : start + _SHARD])
        for order in orders
        for start in range(0, len(order.identities), _SHARD)
    ]
    shards = list(engine.map(draw, parts, description=description))
    number = {identity: place for place, identity in enumerate(i for order in orders for i in order.identities)}
    return Pictures(
        np.concatenate([shard.pixels for shard in shards]),
        np.array([number[identity] for shard in shards for identity in shard.entities.tolist()]),
        [name for shard in shards for name in shard.classes],
        [caption for shard in shards for caption in shard.captions],
    )


def _faces_of(order: _Order) -> Pictures:
    crops, entities = [], []
    for identity in order.identities:
        for view in order.views:
            image, landmarks = portrait(identity, view, size=order.size, difficulty=order.difficulty)
            dice = Dice("landmarks", identity, view)
            noisy = [(x + dice.bell(order.landmark_noise), y + dice.bell(order.landmark_noise)) for x, y in landmarks]
            crops.append(align(np.asarray(image), np.array(noisy)))
            entities.append(identity)
    return Pictures(np.stack(crops), np.array(entities), [], [])


def _things_of(order: _Order) -> Pictures:
    kinds = THINGS
    pixels, entities, classes, captions = [], [], [], []
    for identity in order.identities:
        kind = kinds[identity % len(kinds)]
        thing = thing_of(kind, identity)
        for view in order.views:
            image = photograph(kind, identity, view, size=order.size, difficulty=order.difficulty)
            pixels.append(np.asarray(image))
            entities.append(identity)
            classes.append(f"{kind}: {thing.category}")
            captions.append(thing.caption)
    return Pictures(np.stack(pixels), np.array(entities), classes, captions)
