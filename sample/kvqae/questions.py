"""Questions about facts: ViQuAE's, in which the entity is shown, and TriviaQA's, in which it is named."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sample.kvqae.bank import Relation, relations
from sample.kvqae.entities import Entity
from sample.kvqae.wording import PRONOUNS, Writer, decade
from trivium.formats.questions import SPLITS

_SHARED_ENTITIES, _RECURRING = 0.25, 0.4
_CLUE, _DEMONYM, _PRONOUN = 0.85, 0.15, 0.1
_APPOSITION = 0.25
_DATED = ("ship", "company", "museum", "castle", "noble family", "city", "town")  # a clue is when it was founded


@dataclass(frozen=True)
class EntityQuestion:
    """Question about one fact of one entity.

    Attributes:
        id: id in ViQuAE.
        source: id in TriviaQA of the question that names the entity.
        text: the question; in ViQuAE the entity is shown, not named.
        original: the same question with the entity's name.
        answer: usual form of the answer and aliases.
        view: number of the photograph that illustrates it (≥ 1); 0 in TriviaQA.
    """

    id: str
    source: str
    entity: Entity
    relation: str
    text: str
    original: str
    answer: tuple[str, ...]
    view: int = 0

    @property
    def image(self) -> str:
        """The file name of its photograph."""
        return f"{self.entity.wikidata_id}_{self.view}.jpg"


@dataclass
class _Subject:
    """Entity that may still be asked about, its remaining relations and the number of photographs used."""

    entity: Entity
    left: list[str]
    views: int = 0

    def take(self, rng: random.Random, known: set[str]) -> Relation:
        """Remove and return a relation; sometimes one whose answer is `known`, so that answers recur."""
        recurring = [name for name in self.left if self.entity.facts[name].text in known]
        name = rng.choice(recurring if recurring and rng.random() < _RECURRING else self.left)
        self.left.remove(name)
        self.views += 1
        return relations()[name]


def ask_viquae(entities: Sequence[Entity], writer: Writer, sizes: Mapping[str, int]) -> dict[str, list[EntityQuestion]]:
    """Ask ViQuAE's questions, by split: no (entity, relation) and no image twice, few entities in two splits.

    Persons and things are drawn equally often, as ViQuAE's annotators balanced them.

    Args:
        entities: the whole world; only those with an image are asked about.
        writer: fills the wordings.
        sizes: questions in each split; fewer are returned when the world has too few facts.
    """
    rng = writer.rng
    subjects = [_Subject(one, list(one.facts)) for one in entities if one.image and one.kind.asked]
    rng.shuffle(subjects)
    fresh = {human: [one for one in subjects if one.entity.kind.is_person == human] for human in (True, False)}
    used: list[_Subject] = []
    by_split: dict[str, list[EntityQuestion]] = {}
    for split in SPLITS:
        old = [subject for subject in used if subject.left]
        rng.shuffle(old)
        known = {question.answer[0] for question in by_split.get("train", ())}
        before = sum(map(len, by_split.values()))
        questions: list[EntityQuestion] = []
        while len(questions) < sizes[split] and (old or any(fresh.values())):
            if old and (not any(fresh.values()) or rng.random() < _SHARED_ENTITIES):
                subject = old.pop()
            else:
                human = rng.random() < 0.5
                subject = (fresh[human] or fresh[not human]).pop()
                used.append(subject)
            for _ in range(min(rng.choice((1, 1, 2, 2, 3)), len(subject.left), sizes[split] - len(questions))):
                number, relation = len(questions), subject.take(rng, known)
                ids = f"sample_{split}_{number:05d}", f"tc_{before + number + 1}"
                questions.append(_viquae_question(*ids, subject, relation, writer))
        rng.shuffle(questions)
        by_split[split] = questions
    return by_split


def _viquae_question(
    identifier: str, source: str, subject: _Subject, relation: Relation, writer: Writer
) -> EntityQuestion:
    rng, entity = writer.rng, subject.entity
    wording = rng.choice(relation.question)
    possessive = entity.named + ("'" if entity.named.endswith("s") else "'s")
    named = dict.fromkeys(("this", "This", "subject", "object"), entity.named) | {"possessive": possessive}
    clues = _clues(entity, relation, writer) if rng.random() < _CLUE else []
    clue = rng.choice(clues) if clues else ""
    mention = _mention(entity, rng, with_country=not clues and rng.random() < _DEMONYM)
    shown = dict.fromkeys(("this", "This", "subject", "object"), mention) | {"possessive": f"{mention}'s"}
    alone = entity.gender is not None and rng.random() < _PRONOUN and "{object}" not in wording
    if clues or alone:  # a pronoun will do, but for "the birthplace of him"
        wording = wording.replace("of {object}", "of {this}").replace("by {object}", "by {this}")
        own = PRONOUNS[entity.gender]
        shown |= {"subject": own["he"], "object": own["him"], "possessive": own["his"]}
    value = entity.facts[relation.name]
    text, original = (
        " ".join(writer.fill(sentence, entity, **slots) for sentence in (clue, wording) if sentence)
        for slots in (shown, named)
    )
    answer = (value.text, *value.aliases)
    return EntityQuestion(identifier, source, entity, relation.name, text, original, answer, subject.views)


def _mention(entity: Entity, rng: random.Random, *, with_country: bool) -> str:
    """Mention an entity without its name: "this man", "this writer", "this Velmoran ship"."""
    labels = (entity.label, PRONOUNS[entity.gender]["man"]) if entity.gender else entity.kind.labels
    demonym = f"{entity.country.demonym} " if with_country and entity.kind.name != "country" else ""
    return f"this {demonym}{rng.choice(labels)}"


def _clues(entity: Entity, relation: Relation, writer: Writer) -> list[str]:
    """Return wordings that tell other facts of the entity: its time, country, a work, a date or place of this fact."""
    clues = []
    if entity.gender:
        clues += ["{This} was from {country}.", f"{{This}} was born in the {decade(entity.start)}."]
    elif entity.kind.name in _DATED:
        clues.append(f"{{This}} dates from the {decade(entity.start)}.")
    for name, value in entity.facts.items():
        if name != relation.name:
            clues += [clue.replace("{answer}", value.text) for clue in relations()[name].clue] * 2
    details = writer.details[entity.number, relation.name]
    for year in (details[key] for key in ("year", "late") if key in details):
        clues += [f"{{This}} made headlines in {year}.", f"{{This}} was in the news in {year}."] * 4
    if "place" in details:
        clues += [f"{{This}} {had} {details['place']}." for had in ("had ties to", "was well known in")] * 2
    return clues


def ask_triviaqa(
    entities: Sequence[Entity], writer: Writer, number: int, without: set[tuple[int, str]]
) -> list[EntityQuestion]:
    """Ask at most `number` training questions of TriviaQA, none about an (entity number, relation) in `without`."""
    facts = [
        (entity, relation)
        for entity in entities
        for relation in (relations()[name] for name in entity.facts)
        if (entity.number, relation.name) not in without and (relation.trivia or relation.inverse)
    ]
    chosen = writer.rng.sample(facts, min(number, len(facts)))
    return [_trivia_question(f"qw_{position}", *fact, writer) for position, fact in enumerate(chosen, 1)]


def _trivia_question(identifier: str, entity: Entity, relation: Relation, writer: Writer) -> EntityQuestion:
    rng, value = writer.rng, entity.facts[relation.name]
    if relation.inverse and (not relation.trivia or rng.random() < 0.5):
        text = writer.fill(rng.choice(relation.inverse), entity, answer=value.text)
        answer = (entity.name, *entity.aliases)
    else:
        wording, name = rng.choice(relation.trivia), entity.named
        if rng.random() < _APPOSITION and entity.kind.name != "country":
            name += f", the {entity.country.demonym} {entity.label},"
        text = writer.fill(wording, entity, name=name).replace(",?", "?")
        answer = (value.text, *value.aliases)
    return EntityQuestion(identifier, identifier, entity, relation.name, text, text, answer)
