"""People of a world whom the stand-in face encoder is trained on, as MS-Celeb's identities are among Wikipedia's.

They are photographed anew: neither the knowledge base's nor the questions' photographs are used in training.
"""

import random
from collections.abc import Sequence

from sample.kvqae.entities import Entity
from sample.kvqae.entity_world import build_world
from trivium.formats.questions import SPLITS

FIRST_VIEW = 10_000  # far beyond the photographs that illustrate questions


def persons_of(seed: int, *, articles: int, imageless: int) -> list[Entity]:
    """The persons of a world's knowledge base; its texts and questions play no role.

    Args:
        seed, articles, imageless: as in section `kvqae.world`.
    """
    nothing = dict.fromkeys(SPLITS, 0)
    world = build_world(seed, articles=articles, imageless=imageless, sentences=1, viquae=nothing, triviaqa=0)
    return [entity for entity in world.entities if entity.picture and entity.picture[0] == "person"]


def choose_known(persons: Sequence[Entity], share: float, seed: int) -> dict[str, int]:
    """Draw a share of the persons: {Wikidata id: identity that the renderer draws}."""
    chosen = random.Random(f"known persons {seed}").sample(list(persons), round(share * len(persons)))
    return {person.wikidata_id: person.picture[1] for person in chosen if person.picture}
