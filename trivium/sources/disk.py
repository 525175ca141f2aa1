"""Digests of files, and checks of free disk space."""

import hashlib
import shutil
from pathlib import Path

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
    """Check that there is room on the disk.

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
