"""The sentence bank: what can be said and asked of each kind of entity, read from the YAML files in `bank/`."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

BANK = Path(__file__).parent / "bank"
PERSONS = (
    "politician",
    "prime minister",
    "painter",
    "writer",
    "composer",
    "footballer",
    "scientist",
    "film director",
    "explorer",
)
GROUPS: dict[str, tuple[str, ...]] = {
    "person": PERSONS,
    "settlement": ("city", "town"),
    "building": ("castle", "church", "museum"),
    "landscape": ("mountain", "lake", "island"),
}


@dataclass(frozen=True)
class Item:
    """A Wikidata item that stands for a type or an occupation."""

    id: str
    label: str


@dataclass(frozen=True)
class Kind:
    """A kind of entity.

    Attributes:
        share: articles of the knowledge base out of the sum over kinds.
        types: Wikidata classes (P31); for persons, occupations (P106).
        labels: how an ambiguous question calls a thing ("this vessel").
        lead: first sentences of an article.
        fillers: sentences that answer nothing.
        images: for each image property of Wikidata, what is drawn and how often; the last one if no other.
        looks: categories of drawings that fit; empty: all.
        asked: whether questions may be about it.
    """

    name: str
    share: int
    types: tuple[Item, ...]
    labels: tuple[str, ...]
    lead: tuple[str, ...]
    fillers: tuple[str, ...]
    images: dict[str, tuple[str, float]]
    looks: tuple[str, ...]
    asked: bool

    @property
    def is_person(self) -> bool:
        """Whether entities of this kind are human."""
        return self.name in PERSONS


@dataclass(frozen=True)
class Relation:
    """A fact that an article tells and a question asks for.

    Attributes:
        kinds: names of the kinds that have it.
        pool: where its answers come from (`pools.RECIPES`).
        article: wordings in articles.
        question: wordings in ViQuAE.
        trivia: wordings in TriviaQA's training set; `inverse`: those that ask for the entity's name.
        clue: wordings that tell the fact in a question about another one.
    """

    name: str
    kinds: tuple[str, ...]
    pool: str
    section: str
    article: tuple[str, ...]
    question: tuple[str, ...]
    trivia: tuple[str, ...]
    inverse: tuple[str, ...]
    clue: tuple[str, ...]


def _read(name: str) -> dict[str, Any]:
    return yaml.safe_load((BANK / f"{name}.yaml").read_text(encoding="utf-8"))


def _lines(text: str | None) -> tuple[str, ...]:
    return tuple((text or "").splitlines())


@cache
def kinds() -> dict[str, Kind]:
    """Every kind by name."""
    fillers = _read("fillers")
    groups = {member: group for group, members in GROUPS.items() for member in members}
    return {
        name: Kind(
            name=name,
            share=entry["share"],
            types=tuple(Item(**item) for item in entry.get("occupations", entry.get("types"))),
            labels=tuple(entry.get("label", ())),
            lead=tuple(entry["lead"]),
            fillers=(*fillers.get(name, ()), *fillers.get(groups.get(name, ""), ())),
            images={key: (picture, share) for key, (picture, share) in entry["images"].items()},
            looks=tuple(entry.get("looks", ())),
            asked=entry.get("asked", True),
        )
        for name, entry in _read("kinds").items()
    }


@cache
def relations() -> dict[str, Relation]:
    """Every relation by name."""
    return {
        name: Relation(
            name=name,
            kinds=tuple(kind for group in entry["of"] for kind in GROUPS.get(group, (group,))),
            pool=entry["pool"],
            section=entry["section"],
            article=_lines(entry["article"]),
            question=_lines(entry["question"]),
            trivia=_lines(entry.get("trivia")),
            inverse=_lines(entry.get("inverse")),
            clue=_lines(entry.get("clue")),
        )
        for name, entry in {**_read("persons"), **_read("things")}.items()
    }


@cache
def relations_of(kind: str) -> tuple[Relation, ...]:
    """The relations that entities of a kind may have."""
    return tuple(relation for relation in relations().values() if kind in relation.kinds)
