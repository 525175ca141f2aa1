"""Subjects: every reason to leave a subject out, what is said about those kept, and the real lists."""

import csv

import pytest

from tests.kvqae.tiny_construction import MALE, entity, person, write_lines
from tests.kvqae.viquae_entities import read_viquae_entities
from trivium.formats.wikidata import HUMAN, IMAGE_PROPERTIES, WikidataFile
from trivium.kvqae.construction.linking import LINK_SCHEMA
from trivium.kvqae.construction.subjects import REASONS, add_subjects, read_concrete_types

CLASSES = [
    entity("Q5", "human", P279=["Q900"]),
    entity("Q100", "structure", P279=["Q999"]),
    entity("Q101", "bridge", P279=["Q100", "Q998"]),
    entity("Q102", "drawbridge", P279=["Q101"]),
    entity("Q103", "country", P279=["Q999"]),
    entity("Q104", "ring", P279=["Q105"]),  # a circle outside the concrete types
    entity("Q105", "circle", P279=["Q104"]),
    entity("Q106", "moat", P279=["Q107", "Q106"]),  # subclass of itself, and of a circle with a concrete type in it
    entity("Q107", "ditch", P279=["Q108"]),
    entity("Q108", "trench", P279=["Q107", "Q100"]),
    entity("Q201", "writer"),
    entity("Q202", "spy"),
    entity("Q6581072", "female"),
    entity("Q6581097", "male"),
]
SPAN = {"P373": ["Iron Span"], "P18": ["Span.jpg"]}


def run(folder, entities, items=None, concrete="id,label\nQ100,structure\n", base=None):
    """Add subjects to a mention of each entity, which the base knows as well unless told otherwise.

    Returns metrics and the rows kept by item.
    """
    items = [record["id"] for record in entities] if items is None else items
    linked = [
        dict.fromkeys(LINK_SCHEMA.names)
        | {"question": f"q{number}", "start": 0, "title": f"Title {number}", "names": [f"Title {number}"]}
        | {"wikidata_id": item}
        for number, item in enumerate(items)
    ]
    (folder / "types.csv").write_text(concrete)
    rows, metrics = add_subjects(
        linked,
        WikidataFile(write_lines(folder / "wikidata.jsonl", [*CLASSES, *entities])),
        WikidataFile(write_lines(folder / "kb.jsonl", entities if base is None else base)),
        read_concrete_types(folder / "types.csv"),
        IMAGE_PROPERTIES,
    )
    return metrics, {row["wikidata_id"]: row for row in rows}


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (person("Q1", "Ada Lark"), None),
        (person("Q1", "Ada Lark", P570=[None]), None),  # died nobody knows when
        (person("Q1", "Ada Lark", P570=[]), "living_person"),
        (person("Q1", "Ada Lark", P18=[]), "no_kb_image"),
        (person("Q1", "Ada Lark", P18=[], P94=["Arms.svg"]), None),
        (person("Q1", "Ada Lark", P31=["Q103"], P570=[]), "abstract_type"),
        (entity("Q1", "Iron Span", P31=["Q102"], **SPAN), None),
        (entity("Q1", "Iron Span", P31=["Q103", "Q100"], **SPAN), None),
        (entity("Q1", "Iron Span", P31=["Q103"], **SPAN), "abstract_type"),
        (entity("Q1", "Iron Span", P31=["Q104"], **SPAN), "abstract_type"),  # a circle
        (entity("Q1", "Iron Span", P31=["Q106"], **SPAN), None),  # out of a circle
        (entity("Q1", "Iron Span", P31=["Q77"], **SPAN), "abstract_type"),  # a type that the file does not have
        (entity("Q1", "Iron Span", **SPAN), "abstract_type"),
        (entity("Q1", "Iron Span", P31=["Q101"]), "no_kb_image"),
    ],
)
def test_every_reason_to_leave_a_subject_out(tmp_path, record, reason):
    metrics, kept = run(tmp_path, [record])
    assert set(kept) == (set() if reason else {"Q1"})
    assert {name for name in REASONS if metrics[name]} == ({reason} if reason else set())
    assert metrics["dropped_share"] == (reason in ("living_person", "abstract_type"))  # what the paper counts


def test_the_reference_is_the_image_that_the_knowledge_base_has(tmp_path):
    today = [
        person("Q1", "Ada Lark", P18=["New.jpg"]),
        person("Q2", "Bo"),
        person("Q3", "Cy"),
        person("Q4", "D", P18=[]),
    ]
    base = [person("Q1", "Ada Lark", P18=["512px-Ada.jpg"]), person("Q2", "Bo", P18=[]), person("Q4", "D")]
    metrics, kept = run(tmp_path, today, base=base)
    assert {name: row["reference"] for name, row in kept.items()} == {"Q1": "512px-Ada.jpg", "Q4": "Q4.jpg"}
    assert metrics["no_kb_image"] == 2


def test_what_is_said_about_a_person(tmp_path):
    ada = person("Q1", "Ada Lark", P106=["Q202", "Q201", "Q202", "Q203"], P373=["Category:Ada_Lark"])
    ada["aliases"]["en"].append({"language": "en", "value": "The Nightingale"})
    _, kept = run(tmp_path, [ada])
    expected = {
        "name": "Ada Lark",
        "types": ["human"],
        "occupations": ["spy", "writer"],  # in Wikidata's order, without doubles and without labels that are ids
        "gender": "female",
        "human": True,
        "commons": "Ada Lark",
        "reference": "Q1.jpg",
        "names": ["Title 0", "Ada Lark", "The Nightingale"],
    }
    assert {name: kept["Q1"][name] for name in expected} == expected


def test_what_is_not_known_of_persons_is_counted(tmp_path):
    people = [
        person("Q1", "A", P21=[]),
        person("Q2", "B", P106=[], P21=[MALE]),
        person("Q3", "C", P106=["Q201", "Q202"], P21=["Q909"]),
        person("Q4", "D", P570=[], P106=[]),  # left out: not counted
        entity("Q6", "Iron Span", P31=["Q101"], **SPAN),
    ]
    metrics, kept = run(tmp_path, people)
    assert [kept[item]["gender"] for item in ("Q1", "Q2", "Q3")] == [None, "male", "Q909"]
    assert {name: value for name, value in metrics.items() if name.startswith("person")} == {
        "persons": 3,
        "person_without_gender": 1,
        "person_without_occupation": 1,
        "person_with_several_occupations": 1,
    }


@pytest.mark.real
def test_the_authors_list_and_entities(real):
    folder = real("viquae")
    types = read_concrete_types(folder / "concrete_entities.csv")
    with (folder / "concrete_entities.csv").open(encoding="utf-8", newline="") as lines:
        rows = [row for row in csv.reader(lines) if row]
    assert len(types) == len(rows) == 86
    assert types["Q12280"] == "bridge"
    assert types["Q2385804"] == "educational institution"  # its address lacks the Q
    entities = [one for one in read_viquae_entities(folder / "viquae_entities.json.gz").values() if one.claims]
    people = [one for one in entities if one.human]
    # What the paper says of its data: no living person; and a Commons category for (nearly) everyone.
    assert len(entities) == 2397
    assert len(people) == 1042
    assert all(one.deceased for one in people)
    assert sum(not one.values("P373") for one in entities) == 1
    assert sum(one.image() is None for one in entities) == 58
    assert sum(len(one.values("P106")) > 1 for one in people) == 873
    # A third of the others is of a listed type itself; without the hierarchy, which this file lacks, the rest is not.
    others = [one for one in entities if not one.human]
    assert sum(not types.keys().isdisjoint(one.values("P31")) for one in others) == 467
    assert HUMAN not in types
