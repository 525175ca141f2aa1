"""Records in the public formats: ViQuAE's and TriviaQA's lines, Wikidata's entities."""

from collections.abc import Iterator, Sequence
from typing import Any

from sample.kvqae.articles import description
from sample.kvqae.bank import Item, kinds
from sample.kvqae.entities import Entity
from sample.kvqae.questions import Asked

HUMAN, MALE, FEMALE = Item("Q5", "human"), Item("Q6581097", "male"), Item("Q6581072", "female")
# Wikidata's own classes above the types and occupations in use.
SUPERCLASSES = {
    "Q6256": Item("Q3624078", "sovereign state"),
    "Q515": Item("Q486972", "human settlement"),
    "Q3957": Item("Q486972", "human settlement"),
    "Q13417114": Item("Q8436", "family"),
    "Q783794": Item("Q43229", "organization"),
    "Q11446": Item("Q42889", "vehicle"),
    "Q12280": Item("Q811979", "architectural structure"),
    "Q23413": Item("Q41176", "building"),
    "Q16970": Item("Q41176", "building"),
    "Q33506": Item("Q41176", "building"),
    "Q41176": Item("Q811979", "architectural structure"),
    "Q8502": Item("Q271669", "landform"),
    "Q23442": Item("Q271669", "landform"),
    "Q23397": Item("Q15324", "body of water"),
    "Q6625963": Item("Q36180", "writer"),
    "Q593644": Item("Q901", "scientist"),
    "Q169470": Item("Q901", "scientist"),
    "Q2374149": Item("Q901", "scientist"),
    "Q11063": Item("Q901", "scientist"),
}


def image_name(question: Asked) -> str:
    """File name of a question's photograph."""
    return f"{question.entity.wikidata_id}_{question.view}.jpg"


def viquae_record(question: Asked) -> dict[str, Any]:
    """One line of ViQuAE."""
    return {
        "id": question.id,
        "input": question.text,
        "image": image_name(question),
        "wikidata_id": question.entity.wikidata_id,
        "kilt_id": question.entity.wikipedia_id,
        "url": "",
        "original_question": question.original,
        "output": {"original_answer": question.answer[0], "answer": list(question.answer), "provenance": []},
        "meta": {},
    }


def triviaqa_record(question: Asked) -> dict[str, Any]:
    """One line of TriviaQA in KILT's format; the provenance is the entity's article."""
    provenance = [{"wikipedia_id": [question.entity.wikipedia_id], "title": [question.entity.title]}]
    answer = {"original_answer": question.answer[0], "answer": list(question.answer), "provenance": provenance}
    return {"id": question.id, "input": question.original, "output": answer}


def wikidata_items(entities: Sequence[Entity]) -> Iterator[dict[str, Any]]:
    """Every entity, then every type, occupation and gender that they use."""
    yield from map(_entity_item, entities)
    types = {item.id: item for kind in kinds().values() for item in kind.types}
    types |= {item.id: item for item in (*SUPERCLASSES.values(), HUMAN, MALE, FEMALE)}
    for item in types.values():
        above = SUPERCLASSES.get(item.id)
        yield _item(item.id, item.label, (), "", {"P279": [_to_item("P279", above.id)]} if above else {})


def _entity_item(entity: Entity) -> dict[str, Any]:
    claims: dict[str, list[dict[str, Any]]] = {}
    if entity.gender:
        claims["P31"] = [_to_item("P31", HUMAN.id)]
        claims["P21"] = [_to_item("P21", (FEMALE if entity.gender == "female" else MALE).id)]
        claims["P106"] = [_to_item("P106", item.id) for item in entity.occupations]
        claims["P569"], claims["P570"] = [_to_year("P569", entity.start)], [_to_year("P570", entity.end)]
    else:
        claims["P31"] = [_to_item("P31", item.id) for item in entity.kind.types]
    for key, name in entity.images.items():
        claims[key] = [_claim(key, "commonsMedia", "string", name)]
    if entity.images:
        claims["P373"] = [_claim("P373", "string", "string", entity.title)]
    return _item(entity.wikidata_id, entity.name, entity.aliases, description(entity), claims)


def _item(
    identifier: str, label: str, aliases: Sequence[str], text: str, claims: dict[str, list[dict[str, Any]]]
) -> dict[str, Any]:
    english = {"aliases": [{"language": "en", "value": alias} for alias in aliases]}
    return {
        "id": identifier,
        "type": "item",
        "labels": {"en": {"language": "en", "value": label}},
        "descriptions": {"en": {"language": "en", "value": text}} if text else {},
        "aliases": {"en": english["aliases"]} if aliases else {},
        "claims": claims,
    }


def _claim(key: str, datatype: str, value_type: str, value: Any) -> dict[str, Any]:
    snak = {
        "snaktype": "value",
        "property": key,
        "datatype": datatype,
        "datavalue": {"type": value_type, "value": value},
    }
    return {"rank": "normal", "type": "statement", "mainsnak": snak}


def _to_item(key: str, identifier: str) -> dict[str, Any]:
    return _claim(key, "wikibase-item", "wikibase-entityid", {"id": identifier, "entity-type": "item"})


def _to_year(key: str, year: int) -> dict[str, Any]:
    value = {
        "time": f"+{year}-00-00T00:00:00Z", "timezone": 0, "before": 0, "after": 0, "precision": 9,
        "calendarmodel": "http://www.wikidata.org/entity/Q1985727",
    }  # fmt: skip
    return _claim(key, "time", "time", value)
