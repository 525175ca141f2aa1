"""A lane writes `dvc.lock` as DVC does, byte for byte."""

import sys
from pathlib import Path

import pytest
import yaml
from dvc.utils.serialize import dumps_yaml, loads_yaml

from tests import tiny_project
from tests.tiny_project import run
from trivium.commands.lane import _STAGE, HEAD

ROOT = Path(__file__).parents[2]
LONG = " && ".join(["true"] * 40)  # wrapped
GRAPH = {
    "stages": {
        "first": {"cmd": f"{LONG} && mkdir -p made && cat in.txt > made/a", "deps": ["in.txt"], "outs": ["made"]},
        "each": {
            "matrix": {"seed": [0, 1], "name": ["déjà", "b c"]},
            "cmd": "cp made/a '${item.name}-${item.seed}.txt'",
            "deps": ["made"],
            "params": ["sizes", "other"],
            "outs": ["${item.name}-${item.seed}.txt"],
        },
        "last": {"cmd": "echo '{\"x\": 1}' > m.json", "params": ["other"], "metrics": [{"m.json": {"cache": False}}]},
    }
}
PARAMS = {"sizes": {"rate": 2.0e-5, "clip": None, "layers": [0, 2], "text": "yes", "long": "w " * 60}, "other": 1.0}
DVC, LANE = ("dvc",), (sys.executable, "-m", "trivium.commands.lane")


@pytest.fixture
def project(tmp_path, monkeypatch):
    files = {
        "dvc.yaml": yaml.safe_dump(GRAPH, sort_keys=False),
        "params.yaml": yaml.safe_dump(PARAMS),
        "in.txt": "1",
    }
    return tiny_project.start(tmp_path / "project", files, monkeypatch)


def locks(project, program):
    """`dvc.lock` after a first run, after a change, after one stage was taken out of it, and after it was lost."""
    lock, found = project / "dvc.lock", []
    for change in (None, "in.txt", "stage", "all"):
        if change == "in.txt":
            (project / "in.txt").write_text("2")
        elif change == "stage":
            tree = yaml.safe_load(lock.read_text())
            del tree["stages"]["first"]
            lock.write_text(dumps_yaml(tree))
        elif change == "all":
            lock.unlink()
        run(*program, "repro", "-q", folder=project)
        found.append(lock.read_text())
        assert run(*DVC, "status", folder=project).strip() == "Data and pipelines are up to date."
    return found


def test_the_lock_is_dvcs_own(project):
    ours = locks(project, LANE)
    (project / "dvc.lock").unlink()
    (project / "in.txt").write_text("1")
    assert ours == locks(project, DVC)
    assert (len(set(ours)), ours[3]) == (3, ours[1])  # the stage taken out is now the last one


def test_a_lock_with_more_in_it_is_left_to_dvc(project):
    run(*DVC, "repro", "-q", folder=project)
    lock = project / "dvc.lock"
    lock.write_text("datasets: []\n" + lock.read_text())
    (project / "in.txt").write_text("2")
    run(*LANE, "repro", "-q", folder=project)
    assert lock.read_text().startswith("datasets: []\n")
    assert run(*DVC, "status", folder=project).strip() == "Data and pipelines are up to date."


def test_every_stage_of_the_project_prints_as_it_stands():
    head, *blocks = _STAGE.split((ROOT / "dvc.lock").read_text(encoding="utf-8"))
    assert head == HEAD
    assert len(blocks) > 100
    assert [dumps_yaml({"stages": loads_yaml(block)}) for block in blocks] == [f"stages:\n{block}" for block in blocks]
