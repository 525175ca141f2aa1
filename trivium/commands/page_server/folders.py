"""The server's temporary folder, and those of servers that were killed: a lock says whose server lives."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PREFIX = "trivium-ask-"


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder that goes at the end; before, what killed servers of this user have left goes."""
    remove_left_overs()
    while True:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX)).resolve()
        descriptor = os.open(folder, os.O_RDONLY)
        fcntl.flock(descriptor, fcntl.LOCK_EX)  # ends with the process, however that ends
        if folder.exists():
            break
        os.close(descriptor)  # another server, which started at the same moment, took it for a left-over
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(descriptor)


def remove_left_overs() -> None:
    """Remove the folders of servers that live no more."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        try:
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except OSError:  # a link, a file, somebody else's
            continue
        try:
            if os.fstat(descriptor).st_uid == os.geteuid():
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
        except BlockingIOError:
            pass
        finally:
            os.close(descriptor)
