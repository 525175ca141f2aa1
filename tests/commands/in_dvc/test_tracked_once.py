"""An experiment's commit holds what its stages read and wrote, and Git's index is written once for all of them."""

import subprocess
import sys

import pytest

from tests.tiny_project import commit, run, start

GRAPH = """stages:
  a:
    cmd: cp source a.json
    deps: [source]
    params: [a]
    outs: [a.json: {cache: false}]
  b:
    cmd: cat a.json params.yaml > b
    deps: [a.json]
    params: [b]
    outs: [b]
  c:
    cmd: cp b c.json
    deps: [b]
    outs: [c.json: {cache: false}]
"""
COUNTED = """
import sys
from dvc.cli import main
from dulwich.index import Index

written = []
write = Index.write
Index.write = lambda self: (written.append(1), write(self))
code = main(sys.argv[1:])
print("written", len(written))
sys.exit(code)
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    files = {"dvc.yaml": GRAPH, "params.yaml": "a: 0\nb: 0\n", "source": "{}\n", ".gitignore": ""}
    folder = start(tmp_path / "project", files, monkeypatch)
    run("dvc", "repro", folder=folder)
    commit(folder)
    return folder


def committed(folder, name):
    """What the experiment holds, by file."""
    references = run("git", "for-each-ref", "--format=%(refname)", "refs/exps", folder=folder).split()
    [revision] = [each for each in references if each.endswith(f"/{name}")]
    names = run("git", "ls-tree", "-r", "--name-only", revision, folder=folder).split()
    return {each: run("git", "show", f"{revision}:{each}", folder=folder) for each in names}


@pytest.mark.parametrize("options", [[], ["--temp"]], ids=["workspace", "temp"])
def test_outputs_and_lock_are_in_the_experiment(project, options):
    run("dvc", "exp", "run", *options, "-n", "mine", "-S", "b=1", folder=project)
    found = committed(project, "mine")
    assert found["c.json"] == found["params.yaml"].join(("{}\n", ""))
    assert found["params.yaml"] == "a: 0\nb: 1\n"
    assert "b: 1" in found["dvc.lock"]
    assert "b" not in found


def test_a_dependency_that_git_does_not_know_comes_with_a_stage_in_which_nothing_changed(project):
    run("git", "rm", "-q", "--cached", "source", folder=project)
    run("git", "commit", "-q", "-m", "without", folder=project)
    said = run("dvc", "exp", "run", "-n", "mine", "-S", "b=1", folder=project)
    assert "Stage 'a' didn't change" in said
    assert committed(project, "mine")["source"] == "{}\n"


def test_the_index_is_written_no_more_often_for_more_stages(project):
    def written(*names):
        command = [sys.executable, "-c", COUNTED, "exp", "run", "-n", names[0], "-S", f"b={len(names[0])}", *names[1:]]
        done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=True)
        return int(done.stdout.split()[-1])

    assert written("one", "a") == written("three")
