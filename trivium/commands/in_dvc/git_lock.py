"""Git's index is unlocked although the disk is full.

`dvc exp run` writes Git's index by dulwich, into `index.lock` beside it. What dulwich gives up it closes first, and a
file that cannot be written to cannot be closed: the lock stayed, and every later `dvc exp run` was refused.
"""

import os
from contextlib import suppress
from typing import Any


def install(file: Any) -> None:
    """Replace how a file that is not finished is given up.

    Args:
        file: the module `dulwich.file`.
    """

    def abort(self: Any) -> None:
        if not self._closed:
            with suppress(OSError):  # what it still holds is not wanted
                self._file.close()
            with suppress(FileNotFoundError):
                os.remove(self._lockfilename)  # noqa: PTH107 - dulwich names it in str or in bytes
            self._closed = True

    file._GitFile.abort = abort
