"""`dvc pull` after one that was killed while it collected what is to be pulled."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

QUIET = {"CI": "1", "DVC_NO_ANALYTICS": "1"}  # DVC's helpers would write into its folder while it is removed
KILLED = """
import os, sys

import dvc_data.index.collect, dvc.repo.index
from dvc.cli import main

inherited, seen = getattr(sys.modules[module], name), []

def once(*arguments, **options):
    if seen:
        os._exit(9)
    seen.append(inherited(*arguments, **options))
    return seen[0]

setattr(sys.modules[module], name, once)
sys.exit(main(["pull", "-q"]))
"""


@pytest.mark.parametrize(
    "place", [("dvc_data.index.collect", "_collect_from_index"), ("dvc.repo.index", "_load_storage_from_out")]
)
def test_a_pull_after_a_killed_one_brings_everything(place: tuple[str, str], tmp_path: Path):
    folder = tmp_path / "project"
    folder.mkdir()
    environment = os.environ | {"DVC_SITE_CACHE_DIR": str(tmp_path / "site"), **QUIET}

    def run(*command: str) -> int:
        return subprocess.run(command, cwd=folder, env=environment, check=False).returncode

    assert run("git", "init", "-q") == run("dvc", "init", "-q") == 0
    assert run("dvc", "remote", "add", "-q", "-d", "remote", str(tmp_path / "remote")) == 0
    for name in ("a", "b", "c"):
        (folder / name).mkdir()
        (folder / name / "file").write_text(name)
    assert run("dvc", "add", "-q", "a", "b", "c") == run("dvc", "push", "-q") == 0
    shutil.rmtree(folder / ".dvc" / "cache")
    for removed in (*"abc", "../site"):
        shutil.rmtree(folder / removed)
    assert run(sys.executable, "-c", f"module, name = {place!r}\n{KILLED}") == 9
    assert run("dvc", "pull", "-q") == 0
    assert [(folder / name / "file").read_text() for name in "abc"] == ["a", "b", "c"]


def test_what_the_remote_lacks_is_still_told(tmp_path: Path):
    environment = os.environ | {"DVC_SITE_CACHE_DIR": str(tmp_path / "site"), **QUIET}

    def run(*command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, cwd=tmp_path, env=environment, check=False, capture_output=True, text=True)

    run("git", "init", "-q")
    run("dvc", "init", "-q")
    run("dvc", "remote", "add", "-d", "remote", str(tmp_path / "remote"))
    (tmp_path / "a").write_text("a")
    run("dvc", "add", "a")
    (tmp_path / "a").unlink()
    shutil.rmtree(tmp_path / ".dvc" / "cache")
    pulled = run("dvc", "pull")
    assert pulled.returncode == 1
    assert "missing-files" in pulled.stderr
