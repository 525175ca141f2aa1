"""Articles in KILT's format: a lead, sections of facts and asides, lists that the knowledge base will drop."""

import random
from collections.abc import Iterator
from typing import Any

from sample.kvqae.bank import relations
from sample.kvqae.entities import Entity
from sample.kvqae.wording import Writer

SECTIONS = (
    *("History", "Geography", "Early life", "Construction", "Career", "Politics", "Expeditions", "Business", "Service"),
    *("Economy", "Arms", "Collection", "Ecology", "Culture", "Recognition", "Personal life", "Later years"),
)
_ASIDE, _TABLE, _JOINED = 0.15, 0.06, 0.12
_JOINABLE = ("He", "She", "In", "His", "Her", "The", "A")


def article(entity: Entity, writer: Writer, *, sentences: int) -> dict[str, Any]:
    """One article as a line of KILT's knowledge source.

    Args:
        entity: what the article is about.
        writer: chooses and fills wordings.
        sentences: about how many sentences; facts are never left out.
    """
    categories = [f"{entity.country.demonym} {_plural(entity.kind.name)}"]
    if entity.gender:
        categories += [f"{entity.start} births", f"{entity.end} deaths"]
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
    """Wikidata's short description."""
    if entity.gender:
        return f"{entity.country.demonym} {entity.occupations[0].label} ({entity.start}–{entity.end})"
    return f"{entity.kind.labels[0]} in {entity.country.name}" if entity.kind.name != "country" else "country"


def _plural(name: str) -> str:
    for ending, plural in (("y", "ies"), ("ch", "ches")):
        if name.endswith(ending):
            return name[: -len(ending)] + plural
    return name + "s"


def _paragraphs(entity: Entity, writer: Writer, sentences: int) -> Iterator[str]:
    rng = writer.rng
    told: dict[str, list[str]] = {}
    asides: dict[str, list[str]] = {}
    for name in entity.facts:
        relation = relations()[name]
        wording, sentence = writer.fact(entity, relation)
        told.setdefault(relation.section, []).append(sentence)
        if rng.random() < _ASIDE and (aside := writer.aside(entity, relation, but=wording)):
            asides.setdefault(relation.section, []).append(aside)
    missing = sentences + rng.randint(-2, 2) - sum(map(len, [*told.values(), *asides.values()])) - 1
    fillers = rng.sample(entity.kind.fillers, min(max(missing, 1), len(entity.kind.fillers)))
    lead = [writer.lead(entity)]
    for wording in fillers:
        place = rng.choice([lead, *told.values()])
        place.insert(rng.randint(1 if place is lead else 0, len(place)), writer.fill(wording, entity))
    yield _paragraph(lead, rng)
    for section in SECTIONS:
        if section in told:
            yield f"Section::::{section}.\n"
            yield _paragraph([*told[section], *asides.get(section, ())], rng)
    yield from _lists(entity, writer)


def _paragraph(sentences: list[str], rng: random.Random) -> str:
    """Sentences in a row; now and then two are joined by a semicolon into a long one."""
    text = sentences[0]
    for sentence in sentences[1:]:
        if rng.random() < _JOINED and text.endswith(".") and sentence.split()[0] in _JOINABLE:
            text = f"{text[:-1]}; {sentence[0].lower()}{sentence[1:]}"
        else:
            text += f" {sentence}"
    return text + "\n"


def _lists(entity: Entity, writer: Writer) -> Iterator[str]:
    """What KILT keeps of lists and tables."""
    rng = writer.rng
    if entity.kind.name == "country":
        heads = [one for one in writer.persons if one.kind.name == "prime minister" and one.country == entity.country]
        if heads:
            yield "Section::::Prime ministers.\n"
            yield from (f"BULLET::::- {one.name} ({one.start}–{one.end})\n" for one in heads)
    elif entity.gender and rng.random() < 0.5:
        yield "Section::::Chronology.\n"
        yield from (f"BULLET::::- {line}\n" for line in sorted(_stations(entity, writer, rng.randint(2, 4))))
    if rng.random() < _TABLE:
        yield " | ".join(sorted(_stations(entity, writer, 4))) + "\n"


def _stations(entity: Entity, writer: Writer, count: int) -> list[str]:
    return [writer.fill("{year}: {place}", entity) for _ in range(count)]
