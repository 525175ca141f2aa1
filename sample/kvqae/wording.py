"""Write articles in KILT's format: fill the placeholders of wordings with pronouns, years and names of others.

An article has a lead, sections of facts and asides, and lists that the knowledge base drops.
"""

import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from sample.kvqae.bank import Relation, read, relations
from sample.kvqae.entities import Entity
from sample.kvqae.names import Pools

PRONOUNS = {
    "male": {"he": "he", "him": "him", "his": "his", "man": "man", "partner": "wife"},
    "female": {"he": "she", "him": "her", "his": "her", "man": "woman", "partner": "husband"},
    None: {"he": "it", "him": "it", "his": "its"},
}
_ASIDE, _TABLE = 0.15, 0.06
_ALIAS = 0.15  # how often an article uses another form of an answer
_AN = re.compile(r"\b([Aa]) (?=[aeiouAEIOU])(?!(?:uni|use|one|eu|U[nst]i))")


def tidy(sentence: str) -> str:
    """Capitalise the first letter, and turn "a" into "an" before a vowel."""
    sentence = _AN.sub(r"\1n ", sentence.strip())
    return re.sub(r"^“?\w", lambda first: first[0].upper(), sentence)


def decade(year: int) -> str:
    """Name the decade of a year: 1874 → "1870s", 1803 → "early 1800s"."""
    return f"{'early ' if year % 100 < 10 else ''}{year // 10 * 10}s"


class Writer:
    """Writes sentences about the entities of one world.

    Args:
        entities: all entities, since sentences mention others.
        rng: chooses wordings, years and other entities.
        pools: source of false but plausible values.

    Attributes:
        details: (entity number, relation) → years and place told with the fact; questions may use them as hints.
    """

    def __init__(self, entities: Sequence[Entity], rng: random.Random, pools: Pools) -> None:
        self.rng, self.pools = rng, pools
        self.details: dict[tuple[int, str], dict[str, str]] = {}
        self.persons = [entity for entity in entities if entity.gender]
        self._holders: defaultdict[tuple[str, str], list[Entity]] = defaultdict(list)
        for entity in entities:
            for relation in entity.facts:
                self._holders[entity.kind.name, relation].append(entity)

    def peer(self, entity: Entity, candidates: Sequence[Entity]) -> Entity | None:
        """Draw another entity, of about the same time if there is one."""
        others = [other for other in candidates if other is not entity]
        near = [other for other in others if abs(other.start - entity.start) <= 25]
        return self.rng.choice(near or others) if others else None

    def fact(self, entity: Entity, relation: Relation) -> tuple[str, str]:
        """Tell a fact, sometimes with another form of the answer; returns the wording and the sentence."""
        value = entity.facts[relation.name]
        other = self.peer(entity, self._holders[entity.kind.name, relation.name])
        wording = self.rng.choice([wording for wording in relation.article if other or "{other" not in wording])
        forms = (value.text, *(alias for alias in value.aliases if "." not in alias))
        slots = self._slots(entity, relation, self.rng.choice(forms) if self.rng.random() < _ALIAS else value.text)
        if other:
            slots |= {"other": other.named, "other_answer": other.facts[relation.name].text}
        sentence = tidy(wording.format_map(slots))
        told = {key: slots[key] for key in ("year", "late", "place") if key in slots}
        self.details[entity.number, relation.name] = told
        return wording, sentence

    def aside(self, entity: Entity, relation: Relation, *, but: str) -> str | None:
        """Write a sentence for the article of `entity` that tells this relation of another one in another wording."""
        other = self.peer(entity, self._holders[entity.kind.name, relation.name])
        wordings = [one for one in relation.article if one.startswith("{S}") and "{other" not in one and one != but]
        if other is None or not wordings:
            return None
        bond = self.rng.choice(("a neighbour", "a rival", "an old friend"))
        apposition = f"{bond} of {entity.name.split()[-1]}" if other.gender else "by contrast"
        slots = self._slots(other, relation, other.facts[relation.name].text)
        slots |= {"S": f"{other.named}, {apposition},", "short": other.name}
        return tidy(self.rng.choice(wordings).format_map(slots))

    def fill(self, wording: str, entity: Entity, **slots: str) -> str:
        """Fill the placeholders; `slots` take precedence over the entity's own values."""
        return tidy(wording.format_map(_Slots(self, entity, slots)))

    def _slots(self, entity: Entity, relation: Relation, answer: str) -> "_Slots":
        return _Slots(self, entity, {"answer": answer}, pool=relation.pool)


class _Slots(dict[str, str]):
    """Values of a wording's placeholders, each computed once, when it is needed."""

    def __init__(self, writer: Writer, entity: Entity, given: dict[str, str], *, pool: str = "settlement") -> None:
        super().__init__(given)
        self.writer, self.entity, self.pool = writer, entity, pool

    def __missing__(self, key: str) -> str:
        pronouns = PRONOUNS[self.entity.gender]
        if key.lower() in pronouns:
            value = pronouns[key.lower()] if key.islower() else pronouns[key.lower()].capitalize()
        elif key in _WORDS:
            value = _WORDS[key](self.entity, self)
        else:
            value = self.writer.rng.choice(read("lexicon")[key])
        self[key] = value
        return value

    def year(self, first: int, last: int) -> str:
        """Draw a year between these two, both included."""
        return str(self.writer.rng.randint(first, last))

    def decoy(self, pool: str) -> str:
        """Draw a value of the pool that is not true of the entity."""
        facts = self.entity.facts.values()
        known = [self.entity.name, *(form for fact in facts for form in (fact.text, *fact.aliases))]
        return self.writer.pools.decoy(pool, self.entity.country, but=known)

    def kin(self) -> str:
        """Draw the name of another person with an article."""
        other = self.writer.peer(self.entity, self.writer.persons)
        return other.name if other else "nobody"

    def subject(self) -> str:
        """Draw how a sentence begins: "He", "Velmor", "The painter"."""
        entity = self.entity
        ways = ["It", "It"] if entity.gender is None else [self["He"], self["He"], self["short"]]
        return self.writer.rng.choice([*ways, f"The {entity.label.removeprefix('noble ')}"])


_WORDS: dict[str, Callable[[Entity, _Slots], str]] = {
    "S": lambda entity, slots: slots.subject(),
    "name": lambda entity, slots: entity.name,
    "named": lambda entity, slots: entity.named,
    "short": lambda entity, slots: entity.name.split()[-1] if entity.gender else entity.named,
    "country": lambda entity, slots: entity.country.name,
    "demonym": lambda entity, slots: entity.country.demonym,
    "label": lambda entity, slots: entity.label,
    "start": lambda entity, slots: str(entity.start),
    "death": lambda entity, slots: str(entity.end),
    "youth": lambda entity, slots: slots.year(entity.start + 12, entity.start + 18),
    "year": lambda entity, slots: (
        slots.year(entity.start + 24, entity.end - 8)
        if entity.gender
        else slots.year(entity.start + 5, entity.end - 25)
    ),
    "late": lambda entity, slots: slots.year(entity.end - (8 if entity.gender else 20), entity.end - 1),
    "after": lambda entity, slots: slots.year(entity.end + 2, entity.end + 30),
    "place": lambda entity, slots: slots.decoy("settlement"),
    "water": lambda entity, slots: slots.decoy("water"),
    "decoy": lambda entity, slots: slots.decoy(slots.pool),
    "kin": lambda entity, slots: slots.kin(),
}


def article(entity: Entity, writer: Writer, *, sentences: int) -> dict[str, Any]:
    """Write an article of about `sentences` sentences as a line of KILT's knowledge source; no fact is left out."""
    categories = [f"{entity.country.name} ({entity.kind.name})"]
    categories += [f"{entity.start} births", f"{entity.end} deaths"] if entity.gender else []
    return {
        "wikipedia_id": entity.wikipedia_id,
        "wikipedia_title": entity.title,
        "text": [f"{entity.title}\n", *_paragraphs(entity, writer, sentences)],
        "categories": ",".join(categories),
        "wikidata_info": {
            "wikidata_id": entity.wikidata_id,
            "aliases": list(entity.aliases),
            "description": description(entity),
        },
        "anchors": [],
    }


def description(entity: Entity) -> str:
    """Return Wikidata's short description."""
    if entity.gender:
        return f"{entity.country.demonym} {entity.label} ({entity.start}–{entity.end})"
    return f"{entity.label} in {entity.country.name}" if entity.kind.name != "country" else "country"


def _paragraphs(entity: Entity, writer: Writer, sentences: int) -> Iterator[str]:
    rng = writer.rng
    told: defaultdict[str, list[str]] = defaultdict(list)
    asides: defaultdict[str, list[str]] = defaultdict(list)
    for relation in (relations()[name] for name in entity.facts):
        wording, sentence = writer.fact(entity, relation)
        told[relation.section].append(sentence)
        if rng.random() < _ASIDE and (aside := writer.aside(entity, relation, but=wording)):
            asides[relation.section].append(aside)
    missing = sentences + rng.randint(-2, 2) - sum(map(len, [*told.values(), *asides.values()])) - 1
    lead = [writer.fill(rng.choice(entity.kind.lead), entity)]
    for wording in rng.sample(entity.kind.fillers, min(max(missing, 1), len(entity.kind.fillers))):
        section = rng.choice([lead, *told.values()])
        section.insert(rng.randint(1 if section is lead else 0, len(section)), writer.fill(wording, entity))
    yield " ".join(lead) + "\n"
    for title, section in told.items():
        yield f"Section::::{title}.\n"
        yield " ".join(section + asides[title]) + "\n"
    yield from _lists(entity, writer)


def _lists(entity: Entity, writer: Writer) -> Iterator[str]:
    """Yield the lists and tables in KILT's form."""
    rng = writer.rng
    stations = sorted(writer.fill("{year}: {place}", entity) for _ in range(rng.randint(2, 4)))
    if entity.kind.name == "country":
        heads = [one for one in writer.persons if one.kind.name == "prime minister" and one.country == entity.country]
        yield "Section::::Prime ministers.\n"
        yield from (f"BULLET::::- {one.name} ({one.start}–{one.end})\n" for one in heads)
    elif entity.gender and rng.random() < 0.5:
        yield "Section::::Chronology.\n"
        yield from (f"BULLET::::- {line}\n" for line in stations)
    if rng.random() < _TABLE:
        yield " | ".join(stations) + "\n"
