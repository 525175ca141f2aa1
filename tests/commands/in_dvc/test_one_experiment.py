"""An experiment that a kill has left in DVC's stash changes nothing in the next one."""

import subprocess
import sys

import pytest

from tests.tiny_project import commit, run, start

GRAPH = """stages:
  a:
    cmd: python -c "import yaml; print(yaml.safe_load(open('params.yaml'))['a'])" > out
    params: [a]
    outs: [out: {cache: false}]
"""
KILLED = """
import os
from dvc.cli import main
from dvc.repo.experiments.queue.workspace import WorkspaceQueue

WorkspaceQueue.get = lambda self: os._exit(9)
main(["exp", "run", "-S", "a=1"])
"""


def where_one_was_killed(folder, killed, monkeypatch):
    """A project that ran, and then the program `killed`, which kills its own experiment."""
    start(folder, {"dvc.yaml": GRAPH, "params.yaml": "a: 0\n", ".gitignore": ""}, monkeypatch)
    run("dvc", "repro", folder=folder)
    commit(folder)
    assert subprocess.run([sys.executable, "-c", killed], cwd=folder, check=False).returncode == 9
    return folder


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project whose experiment was killed before it ran."""
    folder = where_one_was_killed(tmp_path / "project", KILLED, monkeypatch)
    assert run("git", "for-each-ref", "refs/exps/stash", folder=folder)
    return folder


@pytest.mark.parametrize("options", [[], ["--temp"]], ids=["workspace", "temp"])
def test_the_next_experiment_is_the_one_that_was_asked_for(project, options):
    said = run("dvc", "exp", "run", *options, "--name", "mine", "-S", "a=2", folder=project)
    assert said.count("Running stage 'a'") == 1
    assert "1 other experiments lie in 'refs/exps/stash', as killed runs leave them: they are not run" in said
    expected = ("0", "a: 0") if options else ("2", "a: 2")
    assert ((project / "out").read_text().strip(), (project / "params.yaml").read_text().strip()) == expected
    run("dvc", "exp", "apply", "mine", folder=project)
    assert (project / "out").read_text() == "2\n"
