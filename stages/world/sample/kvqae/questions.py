"""Questions about facts: ViQuAE's, in which the entity is only shown, and TriviaQA's, in which it is named."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from stages.world.sample.kvqae.bank import Relation, relations
from stages.world.sample.kvqae.entities import Entity
from stages.world.sample.kvqae.wording import Writer, decade

SPLITS = ("train", "validation", "test")
_SHARED_ENTITIES = 0.16
_CLUE, _DEMONYM = 0.2, 0.12
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


def ask_viquae(entities: Sequence[Entity], writer: Writer, sizes: Mapping[str, int]) -> dict[str, list[Asked]]:
    """ViQuAE's questions by split: no (entity, relation) twice, no image twice, few entities in two splits.

    Args:
        entities: the whole world; only those with an image are asked about.
        writer: fills the wordings.
        sizes: questions a split.
    """
    rng = writer.rng
    free = [(entity, _askable(entity)) for entity in entities if entity.image and entity.kind.asked]
    fresh = [pair for pair in free if pair[1]]
    rng.shuffle(fresh)
    used: list[tuple[Entity, list[str]]] = []
    views: dict[int, int] = {}
    asked: dict[str, list[Asked]] = {}
    for split in SPLITS:
        old, new, questions = [pair for pair in used if pair[1]], [], []
        rng.shuffle(old)
        while len(questions) < sizes[split]:
            again = bool(old) and (not fresh or rng.random() < _SHARED_ENTITIES)
            if not again and not fresh:
                break
            entity, names = old.pop() if again else fresh.pop()
            new.append((entity, names))
            for _ in range(min(rng.choice((1, 1, 2, 2, 3)), len(names), sizes[split] - len(questions))):
                relation = relations()[names.pop(rng.randrange(len(names)))]
                view = views[entity.number] = views.get(entity.number, 0) + 1
                identifier = f"sample_{split}_{len(questions):05d}"
                questions.append(_viquae_question(identifier, entity, relation, writer, view))
        used += [pair for pair in new if pair not in used]
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
    clue = next(_clues(entity, relation, writer), None) if rng.random() < _CLUE else None
    named = writer.fill(wording, entity, **_named(entity))
    if clue is not None:
        hint, ask = "{This} " + clue, wording.replace("of {object}", "of {this}")
        text = f"{_fill(hint, entity, writer)} {_fill(ask, entity, writer, pronoun=True)}"
        told = writer.fill(hint, entity, This=entity.named)
        original = f"{told} {named}"
    else:
        pronoun = entity.gender is not None and rng.random() < 0.15 and "{object}" not in wording
        text, original = _fill(wording, entity, writer, pronoun=pronoun), named
    value = entity.facts[relation.name]
    return Asked(identifier, entity, relation.name, text, original, (value.text, *value.aliases), view)


def _named(entity: Entity) -> dict[str, str]:
    possessive = entity.named + ("'" if entity.named.endswith("s") else "'s")
    return {"subject": entity.named, "object": entity.named, "possessive": possessive, "name": entity.named}


def _fill(wording: str, entity: Entity, writer: Writer, *, pronoun: bool = False) -> str:
    """Fill a wording without naming the entity: "this man", "this writer", or a pronoun where one was introduced."""
    rng = writer.rng
    if entity.gender:
        woman = entity.gender == "female"
        mention = rng.choice((entity.occupations[0].label, "woman" if woman else "man"))
        he, him, his = ("she", "her", "her") if woman else ("he", "him", "his")
    else:
        mention = rng.choice(entity.kind.labels)
        he, him, his = "it", "it", "its"
    adjective = f"{entity.country.demonym} " if entity.kind.name != "country" and rng.random() < _DEMONYM else ""
    this = f"this {adjective}{mention}"
    possessive = his if pronoun or (not entity.gender and rng.random() < 0.3) else f"{this}'s"
    slots = {"this": this, "This": this, "possessive": possessive}
    return writer.fill(wording, entity, subject=he if pronoun else this, object=him if pronoun else this, **slots)


def _clues(entity: Entity, relation: Relation, writer: Writer) -> Iterator[str]:
    """Sentences without subject that tell something else about the entity, in random order."""
    kind = entity.kind.name
    clues = [f"was from {entity.country.name}." if entity.gender else ""]
    if entity.gender:
        clues.append(f"was born in the {decade(entity.start)}.")
    elif kind in ("ship", "company", "museum", "castle", "noble family", "city", "town"):
        clues.append(f"dates from the {decade(entity.start)}.")
    for name, value in entity.facts.items():
        if name != relation.name and relations()[name].clue:
            clues += [clue.removeprefix("{This} ").replace("{answer}", value.text) for clue in relations()[name].clue] * 2
    clues = [clue for clue in clues if clue]
    writer.rng.shuffle(clues)
    yield from clues


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
