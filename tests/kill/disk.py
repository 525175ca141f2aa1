"""A disk that can be made full: a file system in memory, mounted in a namespace of its own."""

import os
import shutil
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
        """Leave so many KiB free."""
        self._resize(f"{-(-shutil.disk_usage(self.folder).used // 1024) + spare}k")

    def empty(self) -> None:
        """Give it room again."""
        self._resize(ROOM)

    def unmount(self) -> None:
        """Take it away, whoever still holds a file of it."""
        subprocess.run(["umount", "--lazy", str(self.folder)], check=True)

    def _resize(self, size: str) -> None:
        done = subprocess.run(["mount", "-o", f"remount,size={size}", str(self.folder)], stderr=subprocess.DEVNULL)
        if done.returncode:  # somebody has written meanwhile
            used = os.statvfs(self.folder)
            blocks = used.f_blocks - used.f_bfree + 16
            subprocess.run(["mount", "-o", f"remount,nr_blocks={blocks}", str(self.folder)], check=True)
