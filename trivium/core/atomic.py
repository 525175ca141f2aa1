"""Writing so that the target is complete or absent, whatever happens while writing."""

import errno
import glob
import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from trivium.core.errors import BadInput, naming

_FULL = 1 << 16  # bytes free when a disk is called full: writers fill it to the last block


@contextmanager
def write_atomically(path: Path) -> Iterator[Path]:
    """Yield a path beside the target (file or folder); rename it when the block succeeds, else remove it.

    What an earlier writer of the same target left when it was killed is removed first: a target has one writer.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    _remove_left(path)
    temporary = _temporary(path)
    try:
        with naming(path, instead_of=temporary):  # which is gone when the message is read
            yield temporary
        if path.is_dir():  # moved away in one step: a kill while it is removed must not leave half of it at the target
            path.rename(_temporary(path))
            temporary.replace(path)
            _remove_left(path)
        else:
            temporary.replace(path)
    except Exception as error:
        if _disk_full(error, path.parent):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path)) from error
        raise
    finally:
        remove(temporary)


@contextmanager
def write_folder(path: Path) -> Iterator[Path]:
    """Yield an empty folder beside the target, which takes its place as `write_atomically` says."""
    with write_atomically(path) as folder:
        folder.mkdir()
        yield folder


def write_text(path: Path, text: str) -> None:
    """Write a text in UTF-8."""
    with write_atomically(path) as temporary:
        temporary.write_text(text, "utf-8")


def remove_folder(folder: Path) -> None:
    """Remove a folder, and what an earlier call had not finished; a kill leaves it whole or gone."""
    folder.rename(_temporary(folder))
    _remove_left(folder)


def _temporary(path: Path) -> Path:
    return path.parent / f".{path.name}.{uuid.uuid4().hex[:8]}.partial{path.suffix}"


def _remove_left(path: Path) -> None:
    for left in path.parent.glob(f".{glob.escape(path.name)}.*.partial{glob.escape(path.suffix)}"):
        remove(left)


def _disk_full(error: Exception, folder: Path) -> bool:
    """NumPy, safetensors, torch and faiss each have their own exception for a full disk; some do not even say so."""
    is_full = (isinstance(error, OSError) and error.errno == errno.ENOSPC) or os.strerror(errno.ENOSPC) in str(error)
    return is_full or (shutil.disk_usage(folder).free < _FULL and not isinstance(error, BadInput))


def remove(path: Path) -> None:
    """Remove a file, which need not exist, or a folder with all in it."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
