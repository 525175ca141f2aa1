"""Filling a wording's placeholders: pronouns, years, names of others; and the grammar of "a" and "an"."""

import random
import re
from collections.abc import Callable, Sequence
from typing import Any

from sample.kvqae.bank import Relation
from sample.kvqae.entities import Entity
from sample.kvqae.pools import Pools

PRONOUNS = {
    "male": {"he": "he", "him": "him", "his": "his", "himself": "himself", "man": "man", "partner": "wife"},
    "female": {"he": "she", "him": "her", "his": "her", "himself": "herself", "man": "woman", "partner": "husband"},
    None: {"he": "it", "him": "it", "his": "its", "himself": "itself"},
}
NUMBERS = ("three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
ORDINALS = ("second", "third", "fourth", "fifth", "sixth", "seventh")
COMPASS = ("north", "south", "east", "west")
# How often an article uses another form of an answer.
_ALIAS = 0.15
_AN = re.compile(r"\b([Aa]) (?=[aeiouAEIOU])(?!(?:uni|use|one|eu|U[nst]i))")


def tidy(sentence: str) -> str:
    """Upper-case the first letter, turn "a" into "an" before a vowel."""
    sentence = _AN.sub(r"\1n ", sentence.strip())
    start = 1 if sentence[:1] == "“" else 0
    return sentence[:start] + sentence[start : start + 1].upper() + sentence[start + 1 :]


def decade(year: int) -> str:
    """E.g. 1874 → "1870s", 1803 → "early 1800s"."""
    return f"{'early ' if year % 100 < 10 else ''}{year // 10 * 10}s"


def join(words: Sequence[str]) -> str:
    """E.g. "painter", "painter and writer"."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


class Writer:
    """Writes sentences about the entities of one world.

    Args:
        entities: all of them; sentences mention others.
        rng: chooses wordings, years, others.
        pools: false but plausible values.

    Attributes:
        details: (entity number, relation) → the year and place told together with the fact; questions may hint at them.
    """

    def __init__(self, entities: Sequence[Entity], rng: random.Random, pools: Pools) -> None:
        self.rng, self.pools = rng, pools
        self.details: dict[tuple[int, str], dict[str, str]] = {}
        self.persons = [entity for entity in entities if entity.gender]
        self.holders: dict[tuple[str, str], list[Entity]] = {}
        for entity in entities:
            for relation in entity.facts:
                self.holders.setdefault((entity.kind.name, relation), []).append(entity)

    def peers(self, entity: Entity, candidates: Sequence[Entity]) -> list[Entity]:
        """The others, of the same time if there are such."""
        others = [other for other in candidates if other is not entity]
        return [other for other in others if abs(other.start - entity.start) <= 25] or others

    def lead(self, entity: Entity) -> str:
        """The first sentence of an article."""
        return self.fill(self.rng.choice(entity.kind.lead), entity)

    def fact(self, entity: Entity, relation: Relation) -> tuple[str, str]:
        """(wording, sentence) that tell a fact; now and then with another form of the answer."""
        value = entity.facts[relation.name]
        others = self.peers(entity, self.holders[entity.kind.name, relation.name])
        wordings = [wording for wording in relation.article if others or "{other" not in wording]
        forms = (value.text, *(alias for alias in value.aliases if "." not in alias))
        answer = self.rng.choice(forms) if self.rng.random() < _ALIAS else value.text
        slots: dict[str, Any] = {"answer": answer}
        if others:
            other = self.rng.choice(others)
            slots |= {"other": other.named, "other_answer": other.facts[relation.name].text}
        known = [value.text, *value.aliases, *(fact.text for fact in entity.facts.values()), entity.name]
        slots["decoy"] = lambda: self.pools.decoy(relation.pool, entity.country, but=known)
        wording = self.rng.choice(wordings)
        filled = _Slots(self, entity, slots)
        sentence = tidy(wording.format_map(filled))
        self.details[entity.number, relation.name] = {
            key: filled[key] for key in ("year", "late", "place") if key in filled
        }
        return wording, sentence

    def aside(self, entity: Entity, relation: Relation, *, but: str) -> str | None:
        """A sentence, in the article of `entity`, that tells the same relation of another entity in another wording."""
        others = self.peers(entity, self.holders[entity.kind.name, relation.name])
        wordings = [
            wording
            for wording in relation.article
            if wording.startswith("{S}") and "{other" not in wording and wording != but
        ]
        if not others or not wordings:
            return None
        other = self.rng.choice(others)
        bond = self.rng.choice(("a neighbour", "a rival", "an old friend"))
        family = entity.name.split()[-1]
        subject = f"{other.named}, {bond} of {family}," if other.gender else f"{other.named}, by contrast,"
        answer = other.facts[relation.name].text
        decoy = self.pools.decoy(relation.pool, other.country, but=[answer, other.name])
        return self.fill(self.rng.choice(wordings), other, S=subject, short=other.name, answer=answer, decoy=decoy)

    def fill(self, wording: str, entity: Entity, **slots: Any) -> str:
        """Fill the placeholders; `slots` come before the entity's own."""
        return tidy(wording.format_map(_Slots(self, entity, slots)))


class _Slots(dict[str, str]):
    """The placeholders of a wording, worked out when asked for, each once."""

    def __init__(self, writer: Writer, entity: Entity, given: dict[str, Any]) -> None:
        super().__init__({key: value for key, value in given.items() if isinstance(value, str)})
        self.late: dict[str, Callable[[], str]] = {key: value for key, value in given.items() if callable(value)}
        self.writer, self.entity = writer, entity

    def __missing__(self, key: str) -> str:
        pronouns = PRONOUNS[self.entity.gender]
        if key in self.late:
            value = self.late[key]()
        elif key in pronouns:
            value = pronouns[key]
        elif key[0].isupper() and key.lower() in pronouns:
            value = pronouns[key.lower()].capitalize()
        else:
            value = getattr(self, f"_{key.lower()}")()
        self[key] = value
        return value

    def _s(self) -> str:
        entity, rng = self.entity, self.writer.rng
        if entity.gender:
            return rng.choice((self["He"], self["He"], self["short"], f"The {entity.occupations[0].label}"))
        label = entity.kind.labels[0].split()[-1] if entity.kind.name == "noble family" else entity.kind.labels[0]
        return rng.choice(("It", "It", f"The {label}"))

    def _name(self) -> str:
        return self.entity.name

    def _named(self) -> str:
        return self.entity.named

    def _short(self) -> str:
        return self.entity.name.split()[-1] if self.entity.gender else self.entity.named

    def _country(self) -> str:
        return self.entity.country.name

    def _demonym(self) -> str:
        return self.entity.country.demonym

    def _occupations(self) -> str:
        return join([item.label for item in self.entity.occupations])

    def _label(self) -> str:
        return self.entity.kind.labels[0]

    def _animal(self) -> str:
        return self.entity.animal

    def _birth(self) -> str:
        return str(self.entity.start)

    _start = _birth

    def _death(self) -> str:
        return str(self.entity.end)

    def _decade(self) -> str:
        return decade(self.entity.end - 15)

    def _century(self) -> str:
        return {16: "17th", 17: "18th", 18: "19th"}[self.entity.start // 100]

    def _age(self) -> str:
        return str(self.entity.end - self.entity.start)

    def _youth(self) -> str:
        return str(self.entity.start + self.writer.rng.randint(12, 18))

    def _year(self) -> str:
        entity = self.entity
        early, late = (entity.start + 24, entity.end - 8) if entity.gender else (entity.start + 5, entity.end - 25)
        return str(self.writer.rng.randint(early, late))

    def _late(self) -> str:
        back = 8 if self.entity.gender else 20
        return str(self.entity.end - self.writer.rng.randint(1, back))

    def _after(self) -> str:
        return str(self.entity.end + self.writer.rng.randint(2, 30))

    def _number(self) -> str:
        return self.writer.rng.choice(NUMBERS)

    def _ordinal(self) -> str:
        position = self.writer.rng.randrange(len(ORDINALS))
        self["number"] = NUMBERS[self.writer.rng.randint(position, len(NUMBERS) - 1)]
        return ORDINALS[position]

    def _tens(self) -> str:
        return self.writer.rng.choice(TENS)

    def _compass(self) -> str:
        return self.writer.rng.choice(COMPASS)

    def _place(self) -> str:
        known = [self.entity.name, *(fact.text for fact in self.entity.facts.values())]
        return self.writer.pools.decoy("settlement", self.entity.country, but=known)

    def _water(self) -> str:
        return self.writer.pools.decoy("water", self.entity.country, but=[])

    def _kin(self) -> str:
        """Somebody with an article, of another name."""
        return self.writer.rng.choice(self.writer.peers(self.entity, self.writer.persons)).name

    def _neighbour(self) -> str:
        others = sorted({one.country.name for one in self.writer.persons} - {self.entity.country.name})
        return self.writer.rng.choice(others or ["the sea"])
