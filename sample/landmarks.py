"""The photographs that the sample's Re-Ranking Transformer is trained on, in the place of GLDv2's landmarks.

Most show subjects that are in no world: things of every kind, and people. Some show things that the knowledge base
has articles about, in other photographs than its own and the questions': the overlap that GLDv2 has with ViQuAE.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from sample.kvqae.cast import create_entities
from sample.kvqae.entities import Entity
from sample.kvqae.entity_pictures import give_pictures
from sample.kvqae.names import Names
from sample.kvqae.pools import Pools
from sample.render.difficulty import Difficulty
from sample.render.photo import encode
from sample.render.photographs import render
from sample.render.things import THINGS
from trivium.core.engine import Engine

OUTSIDERS = 15 * 10**8  # identities that no world has (below 10⁹), nor the encoders' training (from 10⁹ on)
OTHER_VIEWS = 10**4  # photographs from here on are neither the knowledge base's nor a question's
_SHARD = 64


@dataclass(frozen=True)
class Photograph:
    """A photograph to draw, and the landmark it shows."""

    name: str
    kind: str
    identity: int
    view: int
    landmark: int


def known_things(seed: int, articles: int, imageless: int) -> list[Entity]:
    """The entities with a picture of a thing in the sample world of a seed, in the world's order.

    Args:
        seed, articles, imageless: as in `build_world`, which gives the same entities the same pictures.
    """
    rng = random.Random(f"entities {seed}")
    pools = Pools(Names(rng), rng)
    entities = create_entities(rng, pools, articles + imageless)
    give_pictures(entities, rng, seed, imageless=imageless)
    return [entity for entity in entities if entity.picture and entity.picture[0] != "person"]


def choose_photographs(known: Sequence[Entity], *, landmarks: int, persons: float, views: int) -> list[Photograph]:
    """What to draw: `views` photographs of each landmark.

    Args:
        known: things of the knowledge base that are among the landmarks.
        landmarks: subjects outside the knowledge base.
        persons: share of these that are people.
        views: photographs of each.
    """
    people, kinds = round(persons * landmarks), list(THINGS)
    outsiders = [
        ("person" if number < people else kinds[number % len(kinds)], OUTSIDERS + number) for number in range(landmarks)
    ]
    subjects = [(*subject, 0) for subject in outsiders]
    subjects += [(*entity.picture, OTHER_VIEWS) for entity in known if entity.picture]
    return [
        Photograph(f"{landmark}_{view}.jpg", kind, identity, first + view, landmark)
        for landmark, (kind, identity, first) in enumerate(subjects)
        for view in range(views)
    ]


def draw_photographs(
    photographs: Sequence[Photograph], engine: Engine, *, size: int, difficulty: Difficulty
) -> Iterator[tuple[str, bytes]]:
    """(name, JPEG) of each photograph, in order."""
    shards = [photographs[start : start + _SHARD] for start in range(0, len(photographs), _SHARD)]
    for shard in engine.map(partial(_draw, size=size, difficulty=difficulty), shards, description="draw landmarks"):
        yield from shard


def _draw(photographs: Sequence[Photograph], *, size: int, difficulty: Difficulty) -> list[tuple[str, bytes]]:
    return [
        (each.name, encode(render(each.kind, each.identity, each.view, size=size, difficulty=difficulty)))
        for each in photographs
    ]
