"""What is killed: five stages of this folder, or the whole graph on the tiny world of tests/end_to_end."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.end_to_end.conftest import copy_project
from tests.kill.processes import MARK

ROOT = Path(__file__).parents[2]
FIVE = Path(__file__).parent / "five"
LINGER = "TRIVIUM_KILL_LINGER"  # see five/stages/lingering.py

MAKE = ("make", "--file", str(ROOT / "Makefile"), "--assume-old", ".venv/bin/.ready", "repro")
WAYS: dict[str, tuple[str, ...]] = {
    "make repro": MAKE,
    "dvc repro": ("dvc", "repro"),
    "dvc exp run": ("dvc", "exp", "run"),
    "dvc push": ("dvc", "push"),
    "dvc pull": ("dvc", "pull"),
}
"""What a person types, and the same in an environment that is ready."""


@dataclass(frozen=True)
class Project:
    """A folder to run commands in, which keeps all that they write inside `folder.parent`.

    Attributes:
        folder: the checkout.
    """

    folder: Path

    @property
    def remote(self) -> Path:
        """What `dvc push` fills."""
        return self.folder.parent / "remote"

    @property
    def state(self) -> Path:
        """DVC's databases, which lie outside the project: what it knows of files, links and indexes."""
        return self.folder.parent / "site"

    @property
    def log(self) -> Path:
        """What the commands of a round have said."""
        return self.folder.parent / "said.log"

    def environment(self, linger: str = "") -> dict[str, str]:
        """Of every command, with the mark that its processes are found by; `linger` names a stage that takes long."""
        inherited = {
            name: value for name, value in os.environ.items() if not name.startswith(("DVC_", "MLFLOW_", "GIT_"))
        }
        temporary = self.folder.parent / "tmp"
        temporary.mkdir(exist_ok=True)
        return inherited | {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{inherited['PATH']}",
            "PYTHONPATH": str(ROOT) if (self.folder / "stages" / "lingering.py").exists() else "",
            "PYTHONDONTWRITEBYTECODE": "1",
            "TQDM_DISABLE": "1",
            "OMP_NUM_THREADS": "1",  # as `make repro` sets it: what is trained depends on it
            "TMPDIR": str(temporary),
            "DVC_SITE_CACHE_DIR": str(self.state),
            MARK: str(self.folder),
            LINGER: linger,
        }

    def start(self, way: str, linger: str = "") -> "subprocess.Popen[bytes]":
        """Start a command as the leader of a session."""
        with self.log.open("ab") as log:
            log.write(f"\n$ {way}\n".encode())
            log.flush()
            return subprocess.Popen(
                WAYS[way],
                cwd=self.folder,
                env=self.environment(linger),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )


def make_project(kind: str, folder: Path) -> Project:
    """A committed checkout in which nothing has run: `five` or `tiny`."""
    folder.mkdir(parents=True)
    project = Project(folder)
    if kind == "tiny":
        copy_project(folder)
    else:
        shutil.copytree(FIVE, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
        (folder / "gitignore").rename(folder / ".gitignore")
        (folder / ".dvc").mkdir()
        for name in (".dvc/config", ".dvcignore"):
            shutil.copy(ROOT / name, folder / name)
        _run(project, "git", "init", "-q", "-b", "main")
        _run(project, "git", "config", "user.email", "test@example.org")
        _run(project, "git", "config", "user.name", "Test")
        _run(project, "git", "config", "gc.auto", "0")
    _run(project, "dvc", "remote", "add", "-q", "-d", "remote", str(project.remote))
    _run(project, "dvc", "status", "-q")  # what DVC writes when it first looks at a project
    _run(project, "git", "add", "-A")
    _run(project, "git", "commit", "-q", "-m", "Nothing has run")
    return project


def _run(project: Project, *command: str) -> None:
    subprocess.run(
        command, cwd=project.folder, env=project.environment(), stdout=subprocess.DEVNULL, check=command[1] != "status"
    )
