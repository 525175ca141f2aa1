"""The sample world's Wikidata with the cases that the construction has to filter planted in it (kvqae.md §2)."""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from sample.kvqae.entities import Entity
from sample.kvqae.raw_records import wikidata_items

# Shares of the persons; the last one is of all entities (the paper drops 31 % as living or abstract, and 3 % for want
# of a Commons category or of a picture in it).
LIVING, NO_GENDER, NO_OCCUPATION, MORE_OCCUPATIONS = 0.28, 0.03, 0.03, 0.1
NO_CATEGORY = 0.03
NO_ARTICLE = 5  # items that no article is about
CYCLE = ("Q3624078", "Q6256")  # sovereign state is made a subclass of country, which is one of sovereign state
_FIRST_WITHOUT_ARTICLE = 2 * 10**9


def plant(entities: Sequence[Entity], seed: int, counts: Counter[str]) -> Iterator[dict[str, Any]]:
    """Entity JSON of the whole world, some claims taken away or added.

    Args:
        entities: all of the world's.
        seed: of the world; the cases follow from it.
        counts: counts each planted case.
    """
    rng = random.Random(f"planted {seed}")
    persons = {entity.wikidata_id: entity.gender is not None for entity in entities}
    occupations = [item for entity in entities for item in entity.occupations]
    example: dict[str, Any] = {}
    for item in wikidata_items(entities):
        claims = item["claims"]
        if item["id"] in persons:
            example = example or item
            if persons[item["id"]]:
                _plant_person(claims, rng, [each.id for each in occupations], counts)
            if "P373" in claims and rng.random() < NO_CATEGORY:
                del claims["P373"]
                counts["planted_no_category"] += 1
        elif item["id"] == CYCLE[0]:
            claims["P279"] = [_to_item("P279", CYCLE[1])]
            counts["planted_cycles"] += 1
        yield item
    for number in range(NO_ARTICLE):
        counts["planted_no_article"] += 1
        yield {**example, "id": f"Q{_FIRST_WITHOUT_ARTICLE + number}"}


def living(item: dict[str, Any]) -> bool:
    """Whether it is a person without a date of death."""
    return "P569" in item["claims"] and "P570" not in item["claims"]


def _plant_person(claims: dict[str, Any], rng: random.Random, occupations: Sequence[str], counts: Counter[str]) -> None:
    """Each case is drawn by itself: a person may have several."""
    for share, key, name in ((LIVING, "P570", "living"), (NO_GENDER, "P21", "no_gender")):
        if rng.random() < share:
            del claims[key]
            counts[f"planted_{name}"] += 1
    drawn = rng.random()
    if drawn < NO_OCCUPATION:
        del claims["P106"]
        counts["planted_no_occupation"] += 1
    elif drawn < NO_OCCUPATION + MORE_OCCUPATIONS:
        claims["P106"] = [*claims["P106"], _to_item("P106", rng.choice(occupations))]
        counts["planted_more_occupations"] += 1


def _to_item(key: str, identifier: str) -> dict[str, Any]:
    value = {"type": "wikibase-entityid", "value": {"id": identifier, "entity-type": "item"}}
    snak = {"snaktype": "value", "property": key, "datatype": "wikibase-item", "datavalue": value}
    return {"rank": "normal", "type": "statement", "mainsnak": snak}
