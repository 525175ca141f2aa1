"""The invented world of a seed, in memory: entities, articles, questions.

A share of its persons may train the stand-in face encoder, since some of MS-Celeb's identities are in Wikipedia. They
are photographed anew: training never uses photographs of the knowledge base or of the questions.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from sample.kvqae.entities import Entity, populate
from sample.kvqae.questions import EntityQuestion, ask_triviaqa, ask_viquae
from sample.kvqae.wording import Writer, article
from trivium.core.errors import BadInput
from trivium.core.parameters import Parameters


class Sizes(Parameters):
    """Number of questions in each split of ViQuAE."""

    train: int = Field(ge=1, description="Training questions")
    validation: int = Field(ge=1, description="Validation questions")
    test: int = Field(ge=1, description="Test questions")


class SampleSizes(Parameters):
    """Seed and sizes that determine the entities, articles and questions of the sample world."""

    seed: int = Field(ge=0, le=998, description="World seed: other seeds have other entities and other faces")
    articles: int = Field(ge=50, description="Articles with an image: the knowledge base")
    imageless: int = Field(ge=0, description="Articles without image: in Wikipedia, not in the knowledge base")
    sentences: int = Field(ge=4, le=40, description="Approximate number of sentences of an article")
    questions: Sizes = Field(description="ViQuAE's questions in each split")
    triviaqa: int = Field(ge=1, description="Largest number of TriviaQA training questions, about facts not in ViQuAE")


@dataclass(frozen=True)
class World:
    """Entities (with and without image), their articles in the same order, and questions by split."""

    entities: list[Entity]
    articles: list[dict[str, Any]]
    viquae: dict[str, list[EntityQuestion]]
    triviaqa_train: list[EntityQuestion]


def build_world(
    seed: int, *, articles: int, imageless: int, sentences: int, viquae: Mapping[str, int], triviaqa: int
) -> World:
    """Build the world of a seed, the same on every machine; `SampleSizes` explains the arguments."""
    entities, pools = populate(seed, articles=articles, imageless=imageless)
    writer = Writer(entities, random.Random(f"articles {seed}"), pools)
    texts = [article(entity, writer, sentences=sentences) for entity in entities]
    writer.rng = random.Random(f"questions {seed}")
    questions = ask_viquae(entities, writer, viquae)
    without = {(question.entity.number, question.relation) for split in questions.values() for question in split}
    return World(entities, texts, questions, ask_triviaqa(entities, writer, triviaqa, without))


def sample_world(sizes: SampleSizes) -> World:
    """Build the sample world of these sizes.

    Raises:
        BadInput: the articles hold too few facts for that many questions.
    """
    values = sizes.model_dump(include=set(SampleSizes.model_fields))
    counts = values.pop("questions")
    world = build_world(viquae=counts, **values)
    for split, questions in world.viquae.items():
        if len(questions) < counts[split]:
            raise BadInput(
                f"only {len(questions)} {split} questions can be asked about {sizes.articles} articles",
                field=f"kvqae.world.questions.{split}",
                got=counts[split],
                expected="fewer questions or more articles",
            )
    return world


def pictured(seed: int, *, articles: int, imageless: int, persons: bool) -> list[Entity]:
    """Return the persons of a seed's knowledge base, or its things, in the world's order."""
    entities, _ = populate(seed, articles=articles, imageless=imageless)
    return [entity for entity in entities if entity.picture and (entity.picture[0] == "person") == persons]


def choose_known(persons: Sequence[Entity], share: float, seed: int) -> dict[str, int]:
    """Draw a share of the persons; returns the identity that the renderer draws, by Wikidata id."""
    chosen = random.Random(f"known persons {seed}").sample(list(persons), round(share * len(persons)))
    return {person.wikidata_id: person.picture[1] for person in chosen if person.picture}
