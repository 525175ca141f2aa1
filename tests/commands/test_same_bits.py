"""A change of code after which the default run is the same: on locks by hand, and on their versions in Git."""

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from trivium.commands.same_bits import SameBits, unchanged


def stage(name: str, code: str, **outputs: str) -> dict[str, Any]:
    outs = [{"path": path, "md5": md5} for path, md5 in outputs.items()]
    return {name: {"params": {"code.yaml": {name: code}}, "outs": outs}}


def test_same_outputs_with_other_code():
    assert unchanged(stage("a", "old", x="1"), stage("a", "new", x="1")) == {("old", "new")}
    assert unchanged(stage("a", "old", x="1"), stage("a", "new", x="2")) == set()


def test_an_output_that_only_one_of_them_has_does_not_count():
    assert unchanged(stage("a", "old", x="1"), stage("a", "new", x="1", y="2")) == {("old", "new")}
    assert unchanged(stage("a", "old", x="1"), stage("a", "new", y="1")) == set()


def test_every_stage_with_that_code_must_be_the_same():
    one = stage("cell@a", "old", x="1") | stage("cell@b", "old", y="1")
    assert unchanged(one, stage("cell@a", "new", x="1") | stage("cell@b", "new", y="1")) == {("old", "new")}
    assert unchanged(one, stage("cell@a", "new", x="1") | stage("cell@b", "new", y="2")) == set()


def test_a_stage_without_code_or_of_one_run_alone_says_nothing():
    assert unchanged({"a": {"outs": [{"path": "x", "md5": "1"}]}}, stage("a", "new", x="1")) == set()
    assert unchanged(stage("a", "old", x="1"), stage("b", "new", x="1")) == set()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    def git(*arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=tmp_path, check=True)

    git("init", "-q")
    git("config", "user.email", "test@example.org")
    git("config", "user.name", "Test")
    for code, output in (("first", "1"), ("second", "2"), ("third", "2"), ("fourth", "2")):
        (tmp_path / "dvc.lock").write_text(yaml.safe_dump({"stages": stage("a", code, x=output)}))
        if code != "fourth":  # which is not committed
            git("add", "-A")
            git("commit", "-qm", code)
            git("tag", code)
    return tmp_path


def test_every_version_since_the_commit_is_compared_with_the_run_of_now(project: Path):
    same = SameBits(project, "first")
    assert same("second", "fourth")
    assert same("third", "fourth")
    assert not same("first", "fourth")
    assert not same("second", "third"), "it is not the code of now"


def test_an_older_version_than_the_commit_is_not_asked(project: Path):
    assert not SameBits(project, "third")("second", "fourth")


def test_a_commit_that_git_does_not_know_and_a_project_without_lock(project: Path):
    assert not SameBits(project, "0" * 40)("third", "fourth")
    (project / "dvc.lock").unlink()
    assert not SameBits(project, "first")("third", "fourth")
