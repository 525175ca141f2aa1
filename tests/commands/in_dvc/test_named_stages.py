"""Stages asked for by name run in the order asked for, and each once, as DVC does it."""

import re

from tests.tiny_project import run, start

STAGES = "stages:\n" + "".join(f"  {name}:\n    cmd: echo {name} > {name}\n    outs: [{name}]\n" for name in "abc")


def ran(text):
    return re.findall(r"Running stage '(\w)'", text)


def test_named_stages_run_in_order(tmp_path, monkeypatch):
    folder = start(tmp_path / "project", {"dvc.yaml": STAGES, ".gitignore": ""}, monkeypatch)
    assert ran(run("dvc", "repro", "--single-item", "c", "a", "c", folder=folder)) == ["c", "a"]
    assert ran(run("dvc", "repro", "--force", "--glob", "[ab]", "b", folder=folder)) == ["a", "b"]
    assert "'none'" in run("dvc", "repro", "--single-item", "a", "none", folder=folder, fails=True)
