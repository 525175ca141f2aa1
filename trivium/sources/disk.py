"""What long transfers share: digests, a look at the free space, and progress that suits a terminal or a log."""

import hashlib
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from tqdm import tqdm

from trivium.core.errors import BadInput


def sha256_of(path: Path) -> str:
    """Digest of a file, read in chunks."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def free_space(folder: Path) -> int:
    """Bytes free on the disk where `folder` is, or will be."""
    existing = next(parent for parent in (folder.absolute(), *folder.absolute().parents) if parent.exists())
    return shutil.disk_usage(existing).free


def require_space(folder: Path, needed: int, purpose: str) -> None:
    """Refuse before it starts what cannot fit.

    Raises:
        BadInput: fewer than `needed` bytes are free.
    """
    free = free_space(folder)
    if needed > free:
        raise BadInput(
            f"not enough disk for {purpose}",
            file=folder,
            got=f"{free / 1e9:.1f} GB free",
            expected=f"{needed / 1e9:.1f} GB",
        )


class Counter(Protocol):
    """Anything that counts bytes as they pass."""

    def update(self, n: int) -> object:
        """Add `n` bytes."""
        ...


class _Lines:
    """Progress where nobody can redraw a bar: a line every tenth of the way, at least 100 MB apart."""

    def __init__(self, name: str, done: int, total: int | None) -> None:
        self.name, self.done, self.total = name, done, total
        self.step = max((total or 0) // 10, 100_000_000)
        self.next = done + self.step

    def update(self, n: int) -> None:
        self.done += n
        if self.done >= self.next:
            of = f" of {self.total / 1e6:.0f}" if self.total else ""
            print(f"{self.name}: {self.done / 1e6:.0f}{of} MB", file=sys.stderr, flush=True)
            self.next += self.step


@contextmanager
def byte_progress(name: str, done: int, total: int | None) -> Iterator[Counter]:
    """A bar on a terminal, plain lines elsewhere; `done` bytes were there before."""
    if not sys.stderr.isatty():
        yield _Lines(name, done, total)
        return
    with tqdm(desc=name, initial=done, total=total, unit="B", unit_scale=True) as bar:
        yield bar
