"""A project of a few files with its own git and DVC, whose stages may import this one's modules."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryDirectory

import pytest

ROOT = Path(__file__).parents[1]


MAINS = {"dvc": "dvc.cli", "trivium": "trivium.commands.cli"}
FORKS = get_context("forkserver")
FORKS.set_forkserver_preload([__name__, "dvc.cli.parser", "dvc.repo.experiments.run", "trivium.commands.repro"])


def _fork(module: str, words: Sequence[str], folder: Path, environment: Mapping[str, str], said: str) -> None:
    """A command line in a process that is a fresh fork: what it prints goes into a file."""
    with Path(said).open("w") as out:
        for stream in (1, 2):
            os.dup2(out.fileno(), stream)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.exit(import_module(module).main(list(words)))


def call(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> tuple[int, str]:
    """Run a command; its exit status and whole output. DVC takes seconds to start: it is a fork of one that has."""
    if command[0] in MAINS:
        with NamedTemporaryFile("r", encoding="utf-8") as said:
            words = (MAINS[command[0]], command[1:], folder, dict(environment), said.name)
            process = FORKS.Process(target=_fork, args=words)
            process.start()
            process.join()
            return process.exitcode, said.read()
    done = subprocess.run(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    return done.returncode, done.stdout


def run(*command: str, folder: Path, fails: bool = False, environment: Mapping[str, str] | None = None) -> str:
    """Run a command; its whole output comes back, and is shown when it ends unexpectedly."""
    status, said = call(command, folder, os.environ if environment is None else environment)
    assert (status != 0) == fails, f"{' '.join(command)} ended with {status}\n{said}"
    return said


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
    run("git", "config", "core.fsync", "none", folder=folder)
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
