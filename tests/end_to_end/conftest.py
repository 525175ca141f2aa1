"""The real dvc.yaml, run on a world of a few dozen entities, in a copy of the tree with its own git and DVC."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from filelock import FileLock

from tests.tiny_project import run
from trivium.commands.scale import rescale
from trivium.core.arithmetic import SETTINGS

ROOT = Path(__file__).parents[2]
TINY = Path(__file__).parent / "tiny.yaml"
RECORDER = Path(__file__).parent / "recorder"
WARM = Path(__file__).parent / "warm"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whichever test comes first builds the project, every stage of it: one file begins, so that no other waits for it."""
    items.sort(key=lambda item: item.path != Path(__file__).with_name("test_ask.py"))
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.timeout(1500))


@dataclass(frozen=True)
class Project:
    """A checkout to run commands in."""

    folder: Path

    def environment(self, **extra: str) -> dict[str, str]:
        inherited = {
            name: value for name, value in os.environ.items() if not name.startswith(("DVC_", "MLFLOW_", "GIT_"))
        }
        path = f"{Path(sys.executable).parent}{os.pathsep}{inherited['PATH']}"
        return inherited | {"PATH": path, "TQDM_DISABLE": "1"} | extra

    def run(self, *command: str, fails: bool = False, **environment: str) -> str:
        """Run a command in the project; its whole output is returned, and shown when it ends unexpectedly."""
        return run(*command, folder=self.folder, fails=fails, environment=self.environment(**environment))

    def commit(self, message: str) -> None:
        self.run("git", "add", "-A")
        self.run("git", "commit", "-q", "--allow-empty", "-m", message)


def copy_project(folder: Path, scale: Path = TINY) -> Project:
    """A checkout of the working tree with small parameters, committed."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in listed.stdout.splitlines():
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    (folder / "dvc.lock").unlink(missing_ok=True)
    rescale(folder / "params.yaml", scale)
    project = Project(folder)
    project.run("git", "init", "-q", "-b", "main")
    project.run("git", "config", "user.email", "test@example.org")
    project.run("git", "config", "user.name", "Test")
    project.run("git", "config", "gc.auto", "0")
    project.run("git", "config", "core.fsync", "none")  # of a thousand files
    project.commit("Small world")
    return project


@contextmanager
def warm(project: Project, **environment: str) -> Iterator[dict[str, str]]:
    """An environment in which `python -m stages …` is a fork of a process that has loaded the large libraries.

    To import torch and transformers takes four seconds, which a graph of eighty cells would pay nearly as often.
    """
    with TemporaryDirectory() as folder:
        client, socket = Path(folder, "python"), Path(folder, "socket")
        client.write_text(f"#!{sys.executable} -IS\n{(WARM / 'client.py').read_text()}")
        client.chmod(0o755)
        settled = project.environment(**environment, **SETTINGS["intel"])
        server = subprocess.Popen([sys.executable, WARM / "server.py", socket], cwd=project.folder, env=settled)
        try:
            while not socket.exists():
                assert server.poll() is None
                time.sleep(0.05)
            yield environment | {"PATH": f"{folder}{os.pathsep}{settled['PATH']}", "TRIVIUM_WARM": str(socket)}
        finally:
            server.terminate()
            server.wait()


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The project after one `dvc repro`, committed; one for all workers of pytest. Tests leave it as they found it."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with FileLock(shared / "end_to_end.lock"):
        project = Project(shared / "end_to_end" / "trivium")
        if not (project.folder / "BUILT").exists():
            copy_project(project.folder)
            recorder = {"PYTHONPATH": str(RECORDER), "TRIVIUM_RECORD": str(project.folder / "RECORD")}
            with warm(project, **recorder) as environment:
                project.run("dvc", "repro", **environment)
            (project.folder / "BUILT").touch()
            project.commit("Results")
    return project


def clone_of(built: Project, folder: Path) -> Project:
    """A git clone of the built project that shares its DVC cache, with everything checked out."""
    project = Project(folder)
    built.run("git", "clone", "-q", str(built.folder), str(folder))
    project.run("git", "config", "user.email", "test@example.org")
    project.run("git", "config", "user.name", "Test")
    project.run("dvc", "cache", "dir", "--local", str(built.folder / ".dvc" / "cache"))
    project.run("dvc", "checkout", "-q")
    return project


@pytest.fixture
def clone(built: Project, tmp_path: Path) -> Project:
    """Such a clone for one test."""
    return clone_of(built, tmp_path / "clone")
