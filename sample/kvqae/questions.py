"""Questions about facts: ViQuAE's, in which the entity is only shown, and TriviaQA's, in which it is named."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sample.kvqae.bank import Relation, relations
from sample.kvqae.entities import Entity
from sample.kvqae.wording import PRONOUNS, Writer, decade
from trivium.formats.questions import SPLITS

_SHARED_ENTITIES, _RECURRING = 0.25, 0.6
_CLUE, _DEMONYM, _PRONOUN = 0.85, 0.15, 0.1
_APPOSITION = 0.25


@dataclass(frozen=True)
class Asked:
    """A question about one fact of one entity.

    Attributes:
        text: as asked; in ViQuAE the entity is only shown.
        original: the same question with the entity's name.
        answer: usual form and aliases.
        view: which photograph illustrates it (≥ 1); 0 in TriviaQA.
    """

    id: str
    entity: Entity
    relation: str
    text: str
    original: str
    answer: tuple[str, ...]
    view: int = 0


@dataclass
class _Subject:
    """An entity that may still be asked about, the relations left and the photographs used."""

    entity: Entity
    left: list[str]
    views: int = 0

    def take(self, rng: random.Random, known: set[str]) -> str:
        """Remove a relation from those left; now and then one whose answer is `known`, so that answers recur."""
        recurring = [name for name in self.left if self.entity.facts[name].text in known]
        name = rng.choice(recurring if recurring and rng.random() < _RECURRING else self.left)
        self.left.remove(name)
        return name


def ask_viquae(entities: Sequence[Entity], writer: Writer, sizes: Mapping[str, int]) -> dict[str, list[Asked]]:
    """ViQuAE's questions by split: no (entity, relation) twice, no image twice, few entities in two splits.

    Persons and things take turns at random, as ViQuAE's annotators balanced them.

    Args:
        entities: the whole world; only those with an image are asked about.
        writer: fills the wordings.
        sizes: questions a split; fewer come back when the world holds too few facts.
    """
    rng = writer.rng
    subjects = [_Subject(entity, _askable(entity)) for entity in entities if entity.image and entity.kind.asked]
    rng.shuffle(subjects)
    fresh = {human: [one for one in subjects if one.entity.kind.is_person == human] for human in (True, False)}
    used: list[_Subject] = []
    asked: dict[str, list[Asked]] = {}
    for split in SPLITS:
        old = [subject for subject in used if subject.left]
        rng.shuffle(old)
        known = {question.answer[0] for question in asked.get("train", ())}
        questions: list[Asked] = []
        while len(questions) < sizes[split] and (old or any(fresh.values())):
            if old and (not any(fresh.values()) or rng.random() < _SHARED_ENTITIES):
                subject = old.pop()
            else:
                human = rng.random() < 0.5
                subject = (fresh[human] or fresh[not human]).pop()
                used.append(subject)
            for _ in range(min(rng.choice((1, 1, 2, 2, 3)), len(subject.left), sizes[split] - len(questions))):
                subject.views += 1
                relation = relations()[subject.take(rng, known)]
                identifier = f"sample_{split}_{len(questions):05d}"
                questions.append(_viquae_question(identifier, subject.entity, relation, writer, subject.views))
        rng.shuffle(questions)
        asked[split] = questions
    return asked


def ask_triviaqa(entities: Sequence[Entity], writer: Writer, number: int, without: set[tuple[int, str]]) -> list[Asked]:
    """TriviaQA's training questions: at most `number`, none about a fact in `without` (entity number, relation)."""
    rng = writer.rng
    facts = [
        (entity, relation)
        for entity in entities
        for relation in (relations()[name] for name in entity.facts)
        if (entity.number, relation.name) not in without and (relation.trivia or relation.inverse)
    ]
    return [
        _trivia_question(f"sample_trivia_{position:05d}", entity, relation, writer)
        for position, (entity, relation) in enumerate(rng.sample(facts, min(number, len(facts))))
    ]


def _askable(entity: Entity) -> list[str]:
    return [name for name in entity.facts if relations()[name].question]


def _viquae_question(identifier: str, entity: Entity, relation: Relation, writer: Writer, view: int) -> Asked:
    rng = writer.rng
    wording = rng.choice(relation.question)
    named = writer.fill(wording, entity, **_named(entity))
    clues = _clues(entity, relation, writer) if rng.random() < _CLUE else []
    mention = _mention(entity, rng, with_country=not clues and rng.random() < _DEMONYM)
    if clues:
        hint = rng.choice(clues)
        ask = wording.replace("of {object}", "of {this}").replace("by {object}", "by {this}")
        text = f"{_fill(hint, entity, writer, mention)} {_fill(ask, entity, writer, mention, pronoun=True)}"
        original = f"{writer.fill(hint, entity, This=entity.named)} {named}"
    else:
        alone = entity.gender is not None and rng.random() < _PRONOUN and "{object}" not in wording
        text, original = _fill(wording, entity, writer, mention, pronoun=alone), named
    value = entity.facts[relation.name]
    return Asked(identifier, entity, relation.name, text, original, (value.text, *value.aliases), view)


def _named(entity: Entity) -> dict[str, str]:
    possessive = entity.named + ("'" if entity.named.endswith("s") else "'s")
    return {"subject": entity.named, "object": entity.named, "possessive": possessive, "name": entity.named}


def _mention(entity: Entity, rng: random.Random, *, with_country: bool) -> str:
    """What an entity is called that is not named: "this man", "this writer", "this Velmoran ship"."""
    if entity.gender:
        noun = rng.choice((entity.occupations[0].label, "woman" if entity.gender == "female" else "man"))
    else:
        noun = rng.choice(entity.kind.labels)
    return f"this {entity.country.demonym} {noun}" if with_country and entity.kind.name != "country" else f"this {noun}"


def _fill(wording: str, entity: Entity, writer: Writer, mention: str, *, pronoun: bool = False) -> str:
    """Fill a wording with the mention, or with pronouns where the mention came before."""
    own = PRONOUNS[entity.gender]
    slots = {"this": mention, "This": mention, "possessive": own["his"] if pronoun else f"{mention}'s"}
    slots |= {"subject": own["he"], "object": own["him"]} if pronoun else {"subject": mention, "object": mention}
    return writer.fill(wording, entity, **slots)


def _clues(entity: Entity, relation: Relation, writer: Writer) -> list[str]:
    """Wordings that tell something else about the entity: its time, its country, a work, when or where the fact was."""
    clues = []
    if entity.gender:
        clues += ["{This} was from {country}.", f"{{This}} was born in the {decade(entity.start)}."]
    elif entity.kind.name in ("ship", "company", "museum", "castle", "noble family", "city", "town"):
        clues.append(f"{{This}} dates from the {decade(entity.start)}.")
    for name, value in entity.facts.items():
        if name != relation.name:
            clues += [clue.replace("{answer}", value.text) for clue in relations()[name].clue] * 2
    details = writer.details[entity.number, relation.name]
    for key in ("year", "late"):
        if key in details:
            clues += [
                "{This} made headlines in " + details[key] + ".",
                "{This} was in the news in " + details[key] + ".",
            ] * 4
    if "place" in details:
        clues += [
            "{This} had ties to " + details["place"] + ".",
            "{This} was well known in " + details["place"] + ".",
        ] * 2
    return clues


def _trivia_question(identifier: str, entity: Entity, relation: Relation, writer: Writer) -> Asked:
    rng = writer.rng
    value = entity.facts[relation.name]
    if relation.inverse and (not relation.trivia or rng.random() < 0.5):
        text = writer.fill(rng.choice(relation.inverse), entity, answer=value.text)
        return Asked(identifier, entity, relation.name, text, text, (entity.name, *entity.aliases))
    label = entity.occupations[0].label if entity.gender else entity.kind.labels[0]
    adjective = "" if entity.kind.name == "country" else f"{entity.country.demonym} "
    name = entity.named
    wording = rng.choice(relation.trivia)
    if rng.random() < _APPOSITION and entity.kind.name != "country" and f"{{name}} {label}" not in wording:
        name += f", the {adjective}{label},"
    text = writer.fill(wording, entity, name=name).replace(",?", "?")
    return Asked(identifier, entity, relation.name, text, text, (value.text, *value.aliases))
