from pathlib import Path

import yaml

from trivium.commands.on_request import OPTIONAL, PHOTOGRAPHS, STOPS, holdings
from trivium.sources.pins import REQUESTED

ROOT = Path(__file__).parents[2]
SETS = ("fquad", "calor", "flickr30k")


def look(root, source="sample", **folders):
    world = dict.fromkeys(SETS, source) | {"local": {name: f"mine/{name}" for name in SETS} | folders}
    return {held.name: held for held in holdings(root, {"world": world})}


def put(root, *files):
    for file in files:
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).touch()


def test_every_listed_set_says_what_stops():
    """What is written down here is about sets, files and stages that there are."""
    listed = yaml.safe_load(REQUESTED.read_text())
    stages = yaml.safe_load((ROOT / "dvc.yaml").read_text())["stages"]
    assert set(STOPS) == set(listed)
    assert set(PHOTOGRAPHS) <= set(listed)
    assert all(file in listed[name]["files"] for name, file in OPTIONAL)
    for meaning in STOPS.values():
        assert meaning.split()[0].split("@")[0] in stages


def test_nothing_there(tmp_path):
    held = look(tmp_path)
    assert list(held) == list(SETS)
    assert held["fquad"].missing == ("train.json", "validation.json")
    assert held["flickr30k"].missing == ("karpathy.json", "entities.zip", "images/")


def test_photographs_are_part_of_flickr30k(tmp_path):
    put(tmp_path, "mine/flickr30k/karpathy.json", "mine/flickr30k/entities.zip")
    (tmp_path / "mine/flickr30k/images").mkdir()
    assert look(tmp_path)["flickr30k"].missing == ("images/",)
    put(tmp_path, "mine/flickr30k/images/1.jpg")
    assert look(tmp_path)["flickr30k"].missing == ()


def test_calor_may_be_xml_and_without_syntax(tmp_path):
    put(
        tmp_path, "mine/calor/questions.jsonl", *(f"mine/calor/frames/{name}.jsonl" for name in ("train", "validation"))
    )
    (tmp_path / "mine/calor/frames/test").mkdir()
    assert look(tmp_path)["calor"].missing == ("frames/test.jsonl",)
    put(tmp_path, "mine/calor/frames/test/1.xml")
    held = look(tmp_path)["calor"]
    assert held.missing == ()
    assert list(held.optional_missing) == ["syntax.conllu"]
    assert "complexity.syntax.parser" in held.optional_missing["syntax.conllu"]
    put(tmp_path, "mine/calor/syntax.conllu")
    assert look(tmp_path)["calor"].optional_missing == {}
