"""A disk that can be made full: a file system in memory, mounted in a namespace of its own."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.small_disk import TMPFS

ROOM = "4g"


@dataclass(frozen=True)
class Disk:
    """The file system at a folder, in a process that `tests.small_disk.NAMESPACE` has started."""

    folder: Path

    def mount(self) -> None:
        """Put an empty one there."""
        subprocess.run([*TMPFS, "-o", f"size={ROOM}", str(self.folder)], check=True)

    def fill(self, spare: int) -> None:
        """Leave so many KiB free, or as little as those who write meanwhile allow."""
        for more in range(50):
            used = os.statvfs(self.folder)
            blocks = used.f_blocks - used.f_bfree + -(-spare * 1024 // used.f_frsize) + more
            if self._resize(f"nr_blocks={blocks}"):
                return
        raise RuntimeError(f"{self.folder} cannot be made as small as what is written there")

    def empty(self) -> None:
        """Give it room again."""
        if not self._resize(f"size={ROOM}"):
            raise RuntimeError(f"{self.folder} cannot be made larger")

    def unmount(self) -> None:
        """Take it away, whoever still holds a file of it."""
        subprocess.run(["umount", "--lazy", str(self.folder)], check=True)

    def _resize(self, size: str) -> bool:
        """Whether it could be done: not below what is on it at that moment."""
        done = subprocess.run(["mount", "-o", f"remount,{size}", str(self.folder)], stderr=subprocess.DEVNULL)
        return done.returncode == 0
