"""The stage's three sources; the public ones come from a small wiki and an archive on loopback."""

import io
import json
import tarfile

import pytest
import yaml

from sample.kvqae.entity_world import build_world
from sample.kvqae.write import write_triviaqa, write_world
from stages.kvqae.sources import KvqaeSourcesParameters, main
from tests.sample.kvqae.test_construction import DIFFICULTY
from tests.sources.loopback import serve
from tests.sources.small_wiki import serve_wiki
from trivium.core.engine import LocalEngine
from trivium.core.errors import BadInput
from trivium.core.image_shards import Images
from trivium.core.stage import Context
from trivium.core.tables import read_json_lines, read_json_records, write_json_lines
from trivium.core.tracking import Tracker
from trivium.formats.triviaqa import read_triviaqa
from trivium.formats.wikidata import parse_entity
from trivium.kvqae.construction.commons import CommonsFile
from trivium.sources.kvqae.construction import check_sources, fetch_sources

PARAMETERS = KvqaeSourcesParameters(
    questions=30, linked=0.6, files=3, picture_size=64, difficulty=DIFFICULTY, annotated=20
)
WORLD = {"world_seed": 1, "world_articles": 60, "world_imageless": 5}


def item(identifier, **claims):
    def statement(key, value):
        snak = {"snaktype": "value", "property": key}
        if value.startswith("Q"):
            return {"rank": "normal", "mainsnak": snak | {"datavalue": {"value": {"id": value}}}}
        return {"rank": "normal", "mainsnak": snak | {"datavalue": {"value": value}}}

    return {"id": identifier, "claims": {key: [statement(key, value)] for key, value in claims.items()}}


ITEMS = [
    item("Q1", P999="Q999", P31="Q5", P570="+1900", P106="Q82955", P373="Ada Lark", P18="Ada.jpg"),
    item("Q2", P31="Q5", P373="Bo Living", P18="Bo.jpg"),
    item("Q3", P31="Q70", P373="Velmor Bridge", P18="V.jpg"),
    item("Q4", P31="Q80", P373="Doria", P18="D.jpg"),
    item("Q5"),
    item("Q6", P31="Q70", P373="Nowhere Bridge", P18="N.jpg"),
    item("Q9", P31="Q70", P373="No image"),
    item("Q70", P279="Q71"),
    item("Q71", P279="Q811979"),
    item("Q811979", P279="Q70"),  # a circle
    item("Q80", P279="Q81"),
    item("Q81", P279="Q80"),  # another
    item("Q82955"),
]
TITLES = {
    "Q1": "Ada Lark",
    "Q2": "Bo Living",
    "Q3": "Velmor Bridge",
    "Q4": "Doria",
    "Q6": "Nowhere Bridge",
    "Q9": "No image",
}


def trivia(identifier, *links):
    pages = [{"DocSource": "TagMe", "Title": link} for link in links]
    return {"QuestionId": identifier, "Question": "Who?", "Answer": {"Value": "x"}, "EntityPages": pages}


def archive(**members):
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w:gz") as tar:
        for name, records in members.items():
            data = json.dumps({"Data": records, "Version": 1.0}).encode()
            header = tarfile.TarInfo(f"triviaqa-unfiltered/unfiltered-web-{name}.json")
            header.size = len(data)
            tar.addfile(header, io.BytesIO(data))
    return target.getvalue()


def article(title, **more):
    """An article, which holds the answer "x" unless it is that of Nowhere Bridge."""
    text = ["There is nothing."] if title == "Nowhere Bridge" else [f"{title}.", "There is an x."]
    return {"wikipedia_id": str(len(title)), "wikipedia_title": title, "text": text, **more}


@pytest.fixture
def raw(tmp_path):
    folder = tmp_path / "raw"
    write_json_lines(
        folder / "articles.jsonl",
        [
            *(article(title, wikidata_info={"wikidata_id": key}) for key, title in TITLES.items()),
            article("No item"),
        ],
    )
    write_json_lines(folder / "wikidata.jsonl", (each for each in ITEMS if "P18" in each["claims"]))
    return folder


@pytest.fixture
def public(tmp_path, monkeypatch):
    """(wiki, arguments of fetch_sources)."""
    with serve() as files, serve_wiki() as wiki:
        source = {"description": "x", "licence": "x", "bytes": 1, "url": files.url + "/data"}
        pins = tmp_path / "pins.yaml"
        monkeypatch.setattr("trivium.sources.pins.PINS", pins)
        name = "triviaqa-unfiltered.tar.gz"
        pins.write_text(yaml.safe_dump({"triviaqa_original": source | {"files": {name: {"sha256": None}}}}))
        files.files[f"/data/{name}"] = archive(
            train=[trivia("tc_1", "Ada Lark", "Doria", "Nowhere Bridge"), trivia("tc_2")],
            dev=[trivia("tc_3", "velmor_Bridge", "No image", "No item", "No article")],
        )
        wiki.entities = {each["id"]: each for each in ITEMS}
        wiki.entities["Q3"] = wiki.entities["Q3"] | {"id": "Q333", "redirects": {"from": "Q3", "to": "Q333"}}
        wiki.categories = {
            "Ada Lark": [wiki.page(1, "File:Ada 1.jpg", License="pd")],
            "Velmor Bridge": [wiki.page(2, "File:V 1.jpg"), wiki.page(1, "File:Ada 1.jpg", License="pd")],
            "Doria": [wiki.page(5, "File:Map.jpg")],
            "Nowhere Bridge": [wiki.page(7, "File:N 1.jpg")],
            "No image": [wiki.page(6, "File:Beach.jpg")],
        }
        api = f"{wiki.url}/w/api.php"
        for name in ("WIKIDATA", "COMMONS"):
            monkeypatch.setattr(f"trivium.sources.kvqae.construction.{name}", api)
        yield wiki, {"files": 5, "width": 500}


def test_the_public_sources(public, raw, tmp_path):
    wiki, arguments = public
    out = tmp_path / "sources"
    metrics = fetch_sources(out, raw, tmp_path / "work", **arguments)
    assert [question.id for question in read_triviaqa(out / "triviaqa.json")] == ["tc_1", "tc_2", "tc_3"]
    entities = {record["id"]: parse_entity(record) for _, record in read_json_lines(out / "wikidata.jsonl")}
    # Bo is linked nowhere, and the article of Nowhere Bridge lacks the answer: neither is asked for.
    # The hierarchy is followed to its end, circles or not.
    assert set(entities) == {each["id"] for each in ITEMS} - {"Q2", "Q6"} | {"Q333"}
    assert not {"Q2", "Q6"} & {each for asked in wiki.asked("wbgetentities") for each in asked["ids"].split("|")}
    assert {asked["languages"] for asked in wiki.asked("wbgetentities")} == {"en|mul"}
    claims = next(record["claims"] for _, record in read_json_lines(out / "wikidata.jsonl") if record["id"] == "Q1")
    assert set(claims) == {"P31", "P570", "P106", "P373", "P18"}
    # Velmor Bridge has another number now: it keeps the one that the knowledge base has.
    assert entities["Q3"].claims == entities["Q333"].claims
    # An entity without image is known, so that the reason why it is no subject can be counted.
    assert entities["Q9"].values("P31") == ("Q70",)
    # Doria's types are abstract, and the knowledge base has no image of the other: their categories are not asked for.
    files = [file for _, file in read_json_records(out / "commons.jsonl", CommonsFile)]
    assert [(file.category, file.name) for file in files] == [
        ("Ada Lark", "Ada 1.jpg"), ("Velmor Bridge", "V 1.jpg"), ("Velmor Bridge", "Ada 1.jpg"),
    ]  # fmt: skip
    assert dict(Images(out / "images").stream()) == {"Ada 1.jpg": b"picture 1", "V 1.jpg": b"picture 2"}
    assert metrics == {
        "links": 7,
        "linked": 5,
        "with_answer": 4,
        "illustrated": 3,
        "entities": 12,
        "subjects": 2,
        "commons_files": 3,
        "commons_images": 2,
        "commons_not_fetched": 0,
    }
    assert (out / "annotated.jsonl").read_bytes() == b""
    assert check_sources(out, tmp_path / "checked")["commons_files_without_image"] == 0


def test_a_picture_that_is_gone_is_counted(public, raw, tmp_path):
    wiki, arguments = public
    del wiki.pictures["/thumb/1/500px-x.jpg"]
    out = tmp_path / "sources"
    metrics = fetch_sources(out, raw, tmp_path / "work", **arguments)
    assert (metrics["commons_files"], metrics["commons_images"], metrics["commons_not_fetched"]) == (3, 1, 1)
    assert Images(out / "images").names == ["V 1.jpg"]
    assert check_sources(out, tmp_path / "checked")["commons_files_without_image"] == 2


def test_an_interrupted_run_goes_on(public, raw, tmp_path, monkeypatch):
    wiki, arguments = public
    monkeypatch.setattr("trivium.sources.kvqae.wikimedia.MISSING_IN_A_ROW", 1)
    picture = wiki.pictures.pop("/thumb/2/500px-x.jpg")
    with pytest.raises(BadInput, match="1 pictures in a row could not be fetched; .*V 1.jpg: not found"):
        fetch_sources(tmp_path / "sources", raw, tmp_path / "work", **arguments)
    assert not (tmp_path / "sources").exists()
    wiki.pictures["/thumb/2/500px-x.jpg"] = picture
    before = len(wiki.requests)
    fetch_sources(tmp_path / "sources", raw, tmp_path / "work", **arguments)
    assert len(wiki.requests) == before + 1  # that picture alone


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    """(raw folder, sources) of a small sample world, made by the stage."""
    folder = tmp_path_factory.mktemp("sample")
    world = build_world(
        1, articles=60, imageless=5, sentences=6, viquae={"train": 4, "validation": 2, "test": 2}, triviaqa=20
    )
    write_world(world, folder / "raw", LocalEngine(1), size=64, difficulty=DIFFICULTY)
    write_triviaqa(world, folder / "raw" / "triviaqa")
    context = Context(Tracker(), folder / "work", LocalEngine(1))
    metrics = main(PARAMETERS, context, source="sample", raw=folder / "raw", **WORLD, out=folder / "sources")
    assert metrics["questions"] == 30
    return folder / "raw", folder / "sources"


def test_your_own_sources_are_checked(sample, tmp_path):
    metrics = check_sources(sample[1], tmp_path / "out")
    assert metrics["questions"] == 30
    assert metrics["annotated_sentences"] == 20
    assert metrics["commons_files_without_image"] == 0
    for path in sample[1].rglob("*.*"):
        if path.is_file():
            assert (tmp_path / "out" / path.relative_to(sample[1])).read_bytes() == path.read_bytes()
