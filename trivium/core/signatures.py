"""Signatures of files by time, size and inode, which tell without reading whether files have changed."""

import os
from collections.abc import Iterator
from pathlib import Path

Signature = tuple[tuple[str, int, int, int], ...]  # name, time, size and inode of each file


def signature_of(path: Path) -> Signature:
    """The signature of a file, or of all files in a folder; empty where there is none."""
    return tuple(_files(path))


def _files(path: Path) -> Iterator[tuple[str, int, int, int]]:
    """Name, time, size and inode of a file, or of each file in a folder; nothing where there is none."""
    try:
        names = (
            [path] if path.is_file() else sorted(Path(at) / name for at, _, files in os.walk(path) for name in files)
        )
        for name in names:
            status = name.stat()
            yield str(name), status.st_mtime_ns, status.st_size, status.st_ino
    except FileNotFoundError:
        return
