"""What entities look like: which image properties they have and which identity the renderer draws."""

import random
from collections.abc import Sequence

from sample.kvqae.entities import PROPERTIES, Entity
from sample.render.things import thing_of
from sample.render.traits import is_woman

IDENTITIES_PER_WORLD = 10**6
_WORDS = {"person": "portrait", "coat_of_arms": "arms"}


def give_pictures(entities: Sequence[Entity], rng: random.Random, seed: int, *, imageless: int) -> None:
    """Give images to all but `imageless` entities.

    World `seed` draws identities from [seed·10⁶, (seed + 1)·10⁶): nobody lives in two worlds.
    """
    hidden = set(rng.sample(range(len(entities)), imageless))
    identity = seed * IDENTITIES_PER_WORLD
    for position, entity in enumerate(entities):
        if position not in hidden:
            identity = _give(entity, rng, identity) + 1


def _give(entity: Entity, rng: random.Random, identity: int) -> int:
    """Give an entity its images; returns the identity used, the first from `identity` on that fits."""
    options = [(key, drawn) for key, (drawn, share) in entity.kind.images.items() if rng.random() < share]
    last = list(entity.kind.images.items())[-1]
    present = dict(options or [(last[0], last[1][0])])
    drawn = present[next(key for key in PROPERTIES if key in present)]
    while not _fits(entity, drawn, identity):
        identity += 1
    entity.picture = drawn, identity
    entity.images = {key: f"{entity.name} {_WORDS.get(shown, shown)}.jpg" for key, shown in present.items()}
    return identity


def _fits(entity: Entity, drawn: str, identity: int) -> bool:
    if drawn == "person":
        return is_woman(identity) == (entity.gender == "female")
    if entity.kind.looks and drawn in ("building", "landscape"):
        return thing_of(drawn, identity).category in entity.kind.looks
    return True
