"""When a kill comes: at a change in a place that is watched from outside, without touching the product."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from tests.kill.project import Project

WATCHED: dict[str, Callable[[Project], list[tuple[Path, str]]]] = {
    "lock": lambda project: [(project.folder, "dvc.lock")],
    "rwlock": lambda project: [(project.folder / ".dvc" / "tmp", "rwlock")],
    "cache": lambda project: [(project.folder / ".dvc" / "cache", "")],
    "link": lambda project: [(project.folder / name, "") for name in ("data", "models", "metrics")],
    "index": lambda project: [(project.state, "")],
    "mlflow": lambda project: [(project.folder, "mlflow.db-")],
    "push": lambda project: [(project.remote, "")],
    "pull": lambda project: [(project.folder / ".dvc" / "cache", "")],
}
"""For each kind of moment the folders, and a part of the names in them, in which a change is waited for."""

Snapshot = frozenset[tuple[str, int, int, int]]


def snapshot(folder: Path, part: str) -> Snapshot:
    """Name, size, time of change and number of each file in a folder: itself alone where names are told, else below."""
    return frozenset(_entries(str(folder), part))


def _entries(folder: str, part: str) -> Iterator[tuple[str, int, int, int]]:
    with suppress(FileNotFoundError), os.scandir(folder) as entries:
        for entry in entries:
            with suppress(FileNotFoundError):
                if not part and entry.is_dir(follow_symlinks=False):
                    yield from _entries(entry.path, part)
                elif part in entry.name:
                    status = entry.stat(follow_symlinks=False)
                    yield entry.path, status.st_size, status.st_mtime_ns, status.st_ino


def wait_for_change(project: Project, kind: str, nth: int, goes_on: Callable[[], bool]) -> bool:
    """Return at the `nth` change of what a kind of moment watches; False: the command ended before.

    Args:
        project: is looked at every millisecond or as fast as the disk allows; changes between two looks are one.
        kind: a key of `WATCHED`.
        nth: from 1.
        goes_on: whether the command does; asked from time to time.
    """
    places = WATCHED[kind](project)
    before = [snapshot(*place) for place in places]
    while goes_on():
        for _ in range(20):
            now = [snapshot(*place) for place in places]
            if now != before:
                before, nth = now, nth - 1
                if nth == 0:
                    return True
            time.sleep(0.001)
    return False
