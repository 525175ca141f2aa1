"""`dvc pull` after one that was killed while it collected what is to be pulled."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

KILLED = """
import os, sys
import dvc_data.index.collect as collect
from dvc.cli import main

of_an_output, seen = collect._collect_from_index, []

def once(*arguments, **options):
    if seen:
        os._exit(9)
    seen.append(of_an_output(*arguments, **options))

collect._collect_from_index = once
sys.exit(main(["pull", "-q"]))
"""


def test_a_pull_after_a_killed_one_brings_everything(tmp_path: Path):
    folder = tmp_path / "project"
    folder.mkdir()
    environment = os.environ | {"DVC_SITE_CACHE_DIR": str(tmp_path / "site")}

    def run(*command: str) -> int:
        return subprocess.run(command, cwd=folder, env=environment, check=False).returncode

    assert run("git", "init", "-q") == run("dvc", "init", "-q") == 0
    assert run("dvc", "remote", "add", "-q", "-d", "remote", str(tmp_path / "remote")) == 0
    for name in ("a", "b", "c"):
        (folder / name).mkdir()
        (folder / name / "file").write_text(name)
    assert run("dvc", "add", "-q", "a", "b", "c") == run("dvc", "push", "-q") == 0
    shutil.rmtree(folder / ".dvc" / "cache")
    for place in (*"abc", "../site"):
        shutil.rmtree(folder / place)
    assert run(sys.executable, "-c", KILLED) == 9
    assert run("dvc", "pull", "-q") == 0
    assert [(folder / name / "file").read_text() for name in "abc"] == ["a", "b", "c"]
