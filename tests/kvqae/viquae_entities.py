"""The entities file of the ViQuAE repository, results of SPARQL queries, as our `Entity`: what ours is checked against."""

import gzip
import json
from urllib.parse import unquote

from trivium.formats.wikidata import Entity

FIELDS = {
    "image": "P18",
    "logo": "P154",
    "flag": "P41",
    "coat_of_arms": "P94",
    "service_ribbon": "P2425",
    "instanceof": "P31",
    "gender": "P21",
    "occupation": "P106",
    "date_of_death": "P570",
    "commons": "P373",
}


def read_viquae_entities(path):
    """Read the entities file of the ViQuAE repository: SPARQL values by entity id, plain or gzipped JSON.

    The items named as values (types, occupations, genders) are there too, with nothing but their label.
    """
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as text:
        records = json.load(text)
    entities: dict[str, Entity] = {}
    labels: dict[str | None, str] = {}
    for identifier, record in records.items():
        claims: dict[str, tuple[str | None, ...]] = {}
        for name, property_id in FIELDS.items():
            if name in record:
                # A property of one value is the value itself, others are objects by value.
                values = [record[name]] if "type" in record[name] else list(record[name].values())
                claims[property_id] = tuple(map(_sparql_value, values))
                labels |= {_sparql_value(value): value["label"]["value"] for value in values if value.get("label")}
        if "genderLabel" in record:
            labels[claims["P21"][0]] = record["genderLabel"]["value"]
        entities[identifier] = Entity(identifier, record["entityLabel"]["value"], (), claims)
    return {item: Entity(item, label) for item, label in labels.items() if item} | entities


def _sparql_value(value):
    """An item's id, a file's name, or a literal; a blank node stands for an unknown value."""
    if value["type"] == "bnode":
        return None
    if "/Special:FilePath/" in value["value"]:
        return unquote(value["value"].rpartition("/")[2]).replace("_", " ")
    return value["value"].rpartition("/")[2] if value["type"] == "uri" else value["value"]
