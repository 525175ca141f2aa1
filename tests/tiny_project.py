"""A project of a few files with its own git and DVC, whose stages may import this one's modules."""

import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

ROOT = Path(__file__).parents[1]


def run(*command: str, folder: Path, fails: bool = False) -> str:
    """Run a command; its whole output comes back, and is shown when it ends unexpectedly."""
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    assert (done.returncode != 0) == fails, f"{' '.join(command)} ended with {done.returncode}\n{done.stdout}"
    return done.stdout


def commit(folder: Path) -> None:
    run("git", "add", "-A", folder=folder)
    run("git", "commit", "-q", "-m", "More", folder=folder)


@cache
def _begun() -> TemporaryDirectory[str]:
    """An empty project, the same for all: DVC takes longer to start than most of these tests do."""
    begun = TemporaryDirectory(prefix="begun-")
    folder = Path(begun.name)
    run("git", "init", "-q", folder=folder)
    run("git", "config", "user.email", "test@example.org", folder=folder)
    run("git", "config", "user.name", "Test", folder=folder)
    run("dvc", "init", "-q", folder=folder)
    return begun


def start(folder: Path, files: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write and commit the files, and make the folder the current one."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    for name in [name for name in os.environ if name.startswith(("DVC_", "GIT_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    shutil.copytree(_begun().name, folder, dirs_exist_ok=True)
    commit(folder)
    monkeypatch.chdir(folder)
    return folder
