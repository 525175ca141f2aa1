"""An experiment that was killed before it took its arguments out of Git's index does not stop the next one."""

import pytest

from tests.commands.in_dvc.test_lock_file import UNTOUCHED
from tests.commands.in_dvc.test_one_experiment import where_one_was_killed
from tests.tiny_project import run

KILLED = """
import os
from dvc.cli import main
from dvc.repo.experiments.executor import base

base.remove = lambda path: (os.unlink(path), os._exit(9))
main(["exp", "run", "-S", "a=1"])
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project whose experiment was killed when it had begun to run."""
    folder = where_one_was_killed(tmp_path / "project", KILLED, monkeypatch)
    assert "AD .dvc/tmp/repro.dat" in run("git", "status", "--short", folder=folder).splitlines()
    return folder


def test_the_next_experiment_runs_and_the_index_is_clean(project):
    said = run("dvc", "exp", "run", "--name", "mine", "-S", "a=2", folder=project)
    assert said.count("a killed experiment left") == 1
    assert (project / "out").read_text() == "2\n"
    assert run("git", "diff", "--cached", "--name-only", folder=project) == ""
    (made,) = (each for each in run("git", "for-each-ref", "refs/exps", folder=project).split() if "mine" in each)
    assert "repro.dat" not in run("git", "ls-tree", "-r", "--name-only", made, folder=project)
    assert "a killed experiment left" not in run("dvc", "exp", "run", "-S", "a=3", folder=project)


def test_dvc_alone_refuses_it(project):
    assert "merge conflicts" in run(*UNTOUCHED, "exp", "run", "-S", "a=2", folder=project, fails=True)
