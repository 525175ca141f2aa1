"""The whole invented world of a seed, in memory: entities, articles, questions."""

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sample.kvqae.articles import article
from sample.kvqae.cast import create_entities
from sample.kvqae.entities import Entity
from sample.kvqae.entity_pictures import give_pictures
from sample.kvqae.facts import tell_facts
from sample.kvqae.names import Names
from sample.kvqae.pools import Pools
from sample.kvqae.questions import Asked, ask_triviaqa, ask_viquae
from sample.kvqae.wording import Writer


@dataclass(frozen=True)
class World:
    """Entities (with and without image), their articles in the same order, questions by split."""

    entities: list[Entity]
    articles: list[dict[str, Any]]
    viquae: dict[str, list[Asked]]
    triviaqa_train: list[Asked]


def build_world(
    seed: int, *, articles: int, imageless: int, sentences: int, viquae: Mapping[str, int], triviaqa: int
) -> World:
    """Build the world of a seed; the same on every machine.

    Args:
        seed: everything follows from it; other seeds have other entities and other identities to draw.
        articles: articles with an image: the knowledge base.
        imageless: articles without.
        sentences: about how many sentences an article has.
        viquae: questions a split ("train", "validation", "test").
        triviaqa: training questions that name their entity.
    """
    rng = random.Random(f"entities {seed}")
    pools = Pools(Names(rng), rng)
    entities = create_entities(rng, pools, articles + imageless)
    give_pictures(entities, rng, seed, imageless=imageless)
    tell_facts(entities, pools)
    writer = Writer(entities, random.Random(f"articles {seed}"), pools)
    texts = [article(entity, writer, sentences=sentences) for entity in entities]
    writer.rng = random.Random(f"questions {seed}")
    asked = ask_viquae(entities, writer, viquae)
    without = {(question.entity.number, question.relation) for split in asked.values() for question in split}
    return World(entities, texts, asked, ask_triviaqa(entities, writer, triviaqa, without))
