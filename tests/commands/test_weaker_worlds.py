"""`make weaker` on a project of one stage: every world runs in a copy with the cells of its scale."""

import json

import pytest
import yaml

from tests import tiny_project
from tests.tiny_project import run
from trivium.commands import cli
from trivium.commands.weaker_worlds import KEPT, MEASURES, RESULTS, WORLDS

GRAPH = """stages:
  decorrelation-evaluate:
    cmd: python evaluate.py
    deps: [evaluate.py]
    params: [decorrelation.world, decorrelation.cells]
    metrics:
    - metrics/decorrelation/comparisons.json: {cache: false}
    - metrics/decorrelation/world_coco.json: {cache: false}
"""
EVALUATE = """import json, pathlib, yaml
tree = yaml.safe_load(open("params.yaml"))["decorrelation"]
assert list(tree["cells"]) == ["kept"]
world = tree["world"]
folder = pathlib.Path("metrics/decorrelation")
folder.mkdir(parents=True, exist_ok=True)
rows = [
    {"dataset": "coco", "model": "clip", "variant": "ours", "other_variant": "finetune", "measure": measure, "set": of,
     "subset": subset, "value": world["co_occurrence"], "other_value": world["mention"], "difference": 0.1, "low": 0,
     "high": 1, "p": 0.5, "queries": 9, "seeds": 3, "pictures": 8}
    for measure, of in MEASURES
    for subset in ("elsewhere", "all")
]
(folder / "comparisons.json").write_text(json.dumps(rows))
drawn = {"sample_co_occurrence_planted": world["co_occurrence"], "sample_mentioned_share": world["mention"]}
(folder / "world_coco.json").write_text(json.dumps(drawn))
"""
PARAMS = {
    "decorrelation": {
        "cells": {"kept": {"seed": 0}, "taken_out": {"seed": 0}},
        "world": {"seed": 3, "co_occurrence": 1.0, "mention": 0.95},
    }
}


@pytest.fixture
def project(tmp_path, monkeypatch):
    files = {
        "dvc.yaml": GRAPH,
        "evaluate.py": EVALUATE.replace("MEASURES", repr(list(MEASURES.items()))),
        "params.yaml": yaml.safe_dump(PARAMS),
        "scales/weaker.yaml": "decorrelation: {cells: {taken_out: null}}\n",
        ".gitignore": ".work\n",
    }
    return tiny_project.start(tmp_path / "project", files, monkeypatch)


def test_every_world_runs_and_the_tree_stays(project):
    cli.run("weaker-worlds")
    kept = json.loads((project / RESULTS).read_text())
    assert kept["commit"] == run("git", "rev-parse", "HEAD", folder=project).strip()
    chosen = PARAMS["decorrelation"]["world"]
    assert len(kept["worlds"]) == len(WORLDS)
    for changed, world in zip(WORLDS, kept["worlds"], strict=True):
        expected = chosen | changed
        assert {name: world[name] for name in chosen} == expected
        assert (world["planted"], world["mentioned"]) == (expected["co_occurrence"], expected["mention"])
        assert set(world["measures"]) == set(MEASURES)
        for found in world["measures"].values():
            assert set(found) == set(KEPT)
            assert (found["value"], found["other_value"]) == (expected["co_occurrence"], expected["mention"])
    assert yaml.safe_load((project / "params.yaml").read_text()) == PARAMS
    assert not (project / "dvc.lock").exists()
