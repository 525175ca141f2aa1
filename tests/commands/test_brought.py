from pathlib import Path

import yaml

from trivium.commands.doctor import OPTIONAL, PHOTOGRAPHS, STOPS, examine_requested
from trivium.sources.pins import REQUESTED

ROOT = Path(__file__).parents[2]
SETS = ("fquad", "calor", "flickr30k")


def look(root):
    world = {"local": {name: f"mine/{name}" for name in SETS}}
    return {finding.name.split()[1]: finding for finding in examine_requested(root, {"world": world})}


def test_every_listed_set_says_what_stops():
    """What is written down here is about sets, files and stages that there are."""
    listed = yaml.safe_load(REQUESTED.read_text())
    stages = yaml.safe_load((ROOT / "dvc.yaml").read_text())["stages"]
    assert set(STOPS) == set(listed)
    assert set(PHOTOGRAPHS) <= set(listed)
    assert all(file in listed[name]["files"] for name, file in OPTIONAL)
    for meaning in STOPS.values():
        assert meaning.split()[0].split("@")[0] in stages


def test_what_is_missing_and_what_that_means(tmp_path):
    findings = look(tmp_path)
    assert list(findings) == list(SETS)
    assert findings["fquad"].result == "mine/fquad lacks train.json, validation.json"
    assert findings["fquad"].meaning.startswith("where world.fquad is local, as at scale paper, complexity-world and")
