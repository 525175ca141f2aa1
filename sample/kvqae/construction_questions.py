"""Candidate questions that name their entity, in TriviaQA's own format, and the annotated sentences (kvqae.md §2)."""

import random
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache
from typing import Any

import yaml

from sample.kvqae.bank import BANK
from sample.kvqae.cast import create_entities
from sample.kvqae.construction_trees import Name, Sentence, analyse
from sample.kvqae.entities import Entity
from sample.kvqae.facts import tell_facts
from sample.kvqae.names import Names
from sample.kvqae.pools import Pools
from sample.kvqae.wording import PRONOUNS, decade

# How often a question names no entity, two, or uses a short form of the name.
_NONE, _TWO, _ALIAS = 0.1, 0.08, 0.06
# TagMe's other links: to the other entity that is named, to one that is not named, to a page that is no article.
_OTHER, _NOISE, _NO_ARTICLE = 0.7, 0.3, 0.1
_IMAGELESS = 0.05


@dataclass(frozen=True)
class Candidate:
    """A question that may become ViQuAE's.

    Attributes:
        entity: what it is about, named in it or not.
        links: titles of the pages that TagMe found.
        linked: whether the entity's own page is among them.
    """

    id: str
    entity: Entity
    relation: str
    sentence: Sentence
    links: tuple[str, ...]
    linked: bool

    def record(self) -> dict[str, Any]:
        """As TriviaQA writes it."""
        value = self.entity.facts[self.relation]
        return {
            "QuestionId": self.id,
            "Question": self.sentence.text,
            "Answer": {"Value": value.text, "Aliases": [value.text, *value.aliases]},
            "EntityPages": [{"DocSource": "TagMe", "Title": title} for title in self.links],
        }


@cache
def _bank() -> dict[str, Any]:
    return yaml.safe_load((BANK / "construction.yaml").read_text(encoding="utf-8"))


def facts_to_ask(entities: Sequence[Entity]) -> list[tuple[Entity, str]]:
    """(entity, relation) that there are wordings for."""
    return [
        (entity, name)
        for entity in entities
        if entity.kind.asked
        for name in entity.facts
        if name in _bank()["relations"]
    ]


def ask_candidates(
    entities: Sequence[Entity], seed: int, number: int, *, linked: float, told: Mapping[str, str]
) -> list[Candidate]:
    """At most `number` questions about facts of these entities, no fact twice.

    Args:
        entities: the whole world.
        seed: of the world.
        number: how many questions.
        linked: share of the questions whose links have the entity's own page.
        told: by Wikipedia id, what other questions tell of an entity: a fact whose answer is there is not asked.
    """
    rng = random.Random(f"candidates {seed}")
    facts = [
        (entity, relation)
        for entity, relation in facts_to_ask(entities)
        if entity.facts[relation].text not in told.get(entity.wikipedia_id, "")
        and (entity.image or rng.random() < _IMAGELESS)
    ]
    chosen = rng.sample(facts, min(number, len(facts)))
    by_kind = _by_kind(entities)
    candidates = []
    for position, (entity, relation) in enumerate(chosen):
        other = rng.choice([each for each in by_kind[entity.kind.name] if each is not entity] or [entity])
        kind, sentence = _sentence(entity, relation, other, rng)
        right = kind != "none" and rng.random() < linked
        links = [entity.title] if right else []
        links += [other.title] if kind == "two" and rng.random() < _OTHER else []
        links += [rng.choice(entities).title] if rng.random() < _NOISE else []
        links += [f"{entity.name} (disambiguation)"] if rng.random() < _NO_ARTICLE else []
        rng.shuffle(links)
        links = list(dict.fromkeys(links))
        candidates.append(
            Candidate(f"sample_{position:05d}", entity, relation, sentence, tuple(links), entity.title in links)
        )
    return candidates


def annotate_sentences(seed: int, number: int, known: Set[str]) -> list[Sentence]:
    """Sentences of the same wordings about people and things of another world, none of whose names is in `known`.

    They come entity by entity: the last ones are about others than the first ones.
    """
    rng = random.Random(f"annotation {seed}")
    pools = Pools(Names(rng), rng)
    entities = create_entities(rng, pools, max(60, number // 2))
    tell_facts(entities, pools)
    entities = [entity for entity in entities if known.isdisjoint((entity.name, *entity.aliases))]
    by_kind = _by_kind(entities)
    facts = facts_to_ask(entities)
    sentences = []
    for position in range(number):  # in order, each fact as often as any other
        entity, relation = facts[position * len(facts) // number]
        sentences.append(_sentence(entity, relation, rng.choice(by_kind[entity.kind.name]), rng)[1])
    return sentences


def _by_kind(entities: Sequence[Entity]) -> dict[str, list[Entity]]:
    by_kind: dict[str, list[Entity]] = {}
    for entity in entities:
        by_kind.setdefault(entity.kind.name, []).append(entity)
    return by_kind


def _sentence(entity: Entity, relation: str, other: Entity, rng: random.Random) -> tuple[str, Sentence]:
    """A question in one of the relation's wordings: (kind of wording, sentence)."""
    fragments: dict[str, str] = _bank()["relations"][relation]
    drawn = rng.random()
    if drawn < _NONE:
        kinds = ["none"]
    elif drawn < _NONE + _TWO:
        kinds = ["two"]
    else:
        kinds = ["noun", *(kind for kind in ("by", "did", "done") if kind in fragments)]
    kind = rng.choice(kinds)
    wording = rng.choice(_bank()["wordings"][kind])
    label = entity.occupations[0].label if entity.gender else entity.kind.labels[0]
    *before, noun = label.split()
    slots = {
        "label": "".join(f"[compound {word}/NN] " for word in before) + f"{noun}/NN",
        "demonym": entity.country.demonym,
        "decade": decade(entity.end - 15).removeprefix("early "),
        "year": str(rng.randint(entity.end - 30, entity.end - 1)),
        "his": PRONOUNS[entity.gender]["his"],
        "who": "who/WP" if entity.gender else "which/WDT",
    }
    wording = wording.format_map({**fragments, **slots})
    return kind, analyse(wording, {"name": _name(entity, rng), "other": _name(other, rng)})


def _name(entity: Entity, rng: random.Random) -> Name:
    text = rng.choice(entity.aliases) if entity.gender and rng.random() < _ALIAS else entity.named
    return Name(text, "PERSON" if entity.gender else _bank()["labels"].get(entity.kind.name, ""))
