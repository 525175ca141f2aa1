"""A file system of a few hundred kilobytes, mounted in a namespace of its own, and a command on it: first too small."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

NAMESPACE = ("unshare", "--map-root-user", "--mount")
TMPFS = ("mount", "-t", "tmpfs", "tmpfs")


def why_not(folder: Path) -> str | None:
    """Why no file system can be mounted here, None where it can."""
    if shutil.which("unshare") is None:
        return "no unshare (util-linux, Linux only)"
    done = subprocess.run([*NAMESPACE, *TMPFS, str(folder)], capture_output=True, text=True, check=False)
    return done.stderr.strip() or f"exit code {done.returncode}" if done.returncode else None


@dataclass(frozen=True)
class Ran:
    """A command that met a full disk, and ran again with room.

    Attributes:
        code, said: exit code and stderr on the small disk.
        left: the files that it left there.
        again, said_again: exit code and stderr with room.
    """

    code: int
    said: str
    left: list[str]
    again: int
    said_again: str


def run_twice(command: list[str], folder: Path, kib: int) -> Ran:
    """Run a command on an empty disk of so many KiB as its current folder, and again once the disk has grown.

    Args:
        command: its relative paths are on the disk, absolute ones are not.
        folder: must not be there; holds the disk's files in the end.
        kib: size of the small disk.
    """
    folder.mkdir()
    given = json.dumps({"command": command, "folder": str(folder), "kib": kib})
    driver = [*NAMESPACE, sys.executable, __file__, given]
    done = subprocess.run(driver, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return Ran(**json.loads(done.stdout))


def _drive(command: list[str], folder: str, kib: int) -> Ran:
    """In the namespace."""
    disk = Path(f"{folder}.disk")
    disk.mkdir()
    subprocess.run([*TMPFS, str(disk), "-o", f"size={kib}k"], check=True)
    first = _run(command, disk)
    left = sorted(str(path.relative_to(disk)) for path in disk.rglob("*") if path.is_file())
    subprocess.run(["mount", "-o", "remount,size=1g", str(disk)], check=True)
    second = _run(command, disk)
    shutil.copytree(disk, folder, dirs_exist_ok=True)
    return Ran(first.returncode, first.stderr, left, second.returncode, second.stderr)


def environment() -> dict[str, str]:
    """Of a stage that is run in another folder."""
    return {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), "TQDM_DISABLE": "1"}


def _run(command: list[str], folder: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True, check=False)


if __name__ == "__main__":
    print(json.dumps(vars(_drive(**json.loads(sys.argv[1])))))
