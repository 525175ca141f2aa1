import gzip
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from tests.kvqae.viquae_entities import read_viquae_entities
from trivium.formats.wikidata import IMAGE_PROPERTIES, Entity, WikidataFile, parse_entity


def claim(value: Any, rank: str = "normal", snak: str = "value") -> dict[str, Any]:
    main = {"snaktype": snak, "property": "P1"}
    if snak == "value":
        main["datavalue"] = {"type": "…", "value": value}
    return {"rank": rank, "mainsnak": main}


def item(number: str) -> dict[str, Any]:
    return claim({"id": number, "entity-type": "item"})


def entity(**claims: list[dict[str, Any]]) -> Entity:
    return parse_entity({"id": "Q1", "labels": {"en": {"language": "en", "value": "One"}}, "claims": claims})


def test_names_for_all_languages_stand_in_for_english_ones() -> None:
    def named(labels: dict[str, str], aliases: dict[str, list[str]]) -> Entity:
        record = {"labels": {language: {"language": language, "value": value} for language, value in labels.items()}}
        listed = {key: [{"language": key, "value": value} for value in values] for key, values in aliases.items()}
        return parse_entity({"id": "Q1", **record, "aliases": listed})

    ada = named({"mul": "Ada Lark", "fr": "Adèle"}, {"mul": ["A. Lark", "Ada"], "en": ["Ada", "Ada of Tarn"]})
    assert (ada.label, ada.aliases) == ("Ada Lark", ("Ada", "Ada of Tarn", "A. Lark"))
    assert named({"mul": "Tarn", "en": "River Tarn"}, {}).label == "River Tarn"
    assert named({"fr": "Tarne"}, {"fr": ["Tarn"]}) == Entity("Q1")
    assert parse_entity({"id": "Q1", "labels": [], "aliases": []}) == Entity("Q1")


def test_image_preference() -> None:
    images = {name: [claim(f"{name}.jpg")] for name in IMAGE_PROPERTIES}
    for position, name in enumerate(IMAGE_PROPERTIES):
        left = {other: images[other] for other in reversed(IMAGE_PROPERTIES[position:])}
        assert entity(**left).image() == f"{name}.jpg"
    assert entity().image() is None
    assert entity(**images).image(["P41"]) == "P41.jpg"


def test_ranks() -> None:
    statements = [claim("old.jpg", "deprecated"), claim("plain.jpg"), claim("best.jpg", "preferred")]
    assert entity(P18=statements).values("P18") == ("best.jpg",)
    assert entity(P18=statements[:2]).values("P18") == ("plain.jpg",)
    assert entity(P18=statements[:1], P154=[claim("logo.svg")]).image() == "logo.svg"


def test_unknown_and_no_value() -> None:
    somewhen, never = claim(None, snak="somevalue"), claim(None, snak="novalue")
    assert entity(P570=[somewhen]).deceased
    assert entity(P570=[somewhen]).values("P570") == ()
    assert not entity(P570=[never]).deceased
    # A preferred "no value" hides what is known by a lower rank.
    assert not entity(P570=[claim({"time": "+1900-00-00T00:00:00Z"}), never | {"rank": "preferred"}]).deceased
    assert entity(P18=[somewhen], P41=[claim("flag.svg")]).image() == "flag.svg"


def test_values_of_every_type() -> None:
    person = entity(P31=[item("Q5")], P21=[claim({"numeric-id": 6581072})], P570=[claim({"time": "+1900"})])
    assert person.human
    assert person.values("P21") == ("Q6581072",)
    assert person.values("P570") == ("+1900",)
    assert not entity(P31=[item("Q515")]).human


def test_file_is_read_at_random(tmp_path: Path) -> None:
    path = tmp_path / "wikidata.jsonl"
    records = [{"id": f"Q{n}", "labels": {"en": {"value": f"é{n}"}}, "claims": {}} for n in (3, 1, 2)]
    path.write_text("\n".join(json.dumps(record, ensure_ascii=False) for record in records), encoding="utf-8")
    wikidata = WikidataFile(path)
    assert [wikidata.label(name) for name in ("Q1", "Q2", "Q3", "Q1", "Q4")] == ["é1", "é2", "é3", "é1", "Q4"]
    assert wikidata.get("Q4") is None


@pytest.mark.real
def test_all_entities_of_viquae(real: Callable[[str], Path]) -> None:
    path = real("viquae") / "viquae_entities.json.gz"
    entities = read_viquae_entities(path)
    subjects = [entity for entity in entities.values() if entity.values("P31")]
    assert len(subjects) == 2397
    source = Counter(next((name for name in IMAGE_PROPERTIES if entity.values(name)), None) for entity in subjects)
    assert source == {"P18": 2303, "P154": 31, "P41": 5, None: 58}
    assert sum(entity.human for entity in subjects) == 1042
    gender = Counter(entities[entity.values("P21")[0]].label for entity in subjects if entity.values("P21"))
    assert gender == {"male": 1021, "female": 196, "male organism": 8, "female organism": 2}
    # 1 064 dates and five deaths at an unknown time (Goliath, Eve, Solomon, Indiana Jones, Samson)
    assert sum(entity.deceased for entity in subjects) == 1069
    assert sum(len(entity.values("P570")) for entity in subjects) == 1064
    assert sum(len(entity.values("P106")) for entity in subjects) == 4955
    assert sum(len(entity.values("P31")) for entity in subjects) == 3874
    assert all(entities[item].label for entity in subjects for item in entity.values("P31") + entity.values("P106"))

    # The authors' reference image was chosen at another time: it is ours for 2 204 of the 2 339 that have both.
    records = json.loads(gzip.decompress(path.read_bytes()))
    references = {name: record.get("reference_image", "").rpartition("/")[2] for name, record in records.items()}
    both = [(unquote(name).replace("_", " "), entities[key].image()) for key, name in references.items() if name]
    assert sum(theirs == ours for theirs, ours in both if ours) == 2204
    assert sum(ours is not None for _, ours in both) == 2339
    achilles = entities["Q41746"]
    assert achilles.image() == "Achilles by Lycomedes Louvre Ma2120.jpg"
    assert not achilles.deceased
    lincoln = entities["Q91"]
    assert lincoln.human
    assert lincoln.deceased
    assert lincoln.values("P570") == ("1865-04-15T00:00:00Z",)
    assert [entities[item].label for item in lincoln.values("P106")] == ["lawyer", "politician", "statesperson"]
