"""Articles in KILT's format: a lead, sections of facts and asides, and lists that the knowledge base drops."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from sample.kvqae.bank import relations
from sample.kvqae.entities import Entity
from sample.kvqae.wording import Writer

_ASIDE, _TABLE = 0.15, 0.06


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
