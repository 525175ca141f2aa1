"""DVC writes its YAML and JSON files beside their place and renames them: `dvc.lock` is the old or the new one.

DVC empties a file before it writes it; a kill in between leaves it empty, and `dvc.lock` takes seconds to print.
"""

import glob
import io
import os
from contextlib import suppress
from pathlib import Path
from typing import Any


def install(common: Any) -> None:
    """Replace the writing of files, local ones only.

    Args:
        common: the module `dvc.utils.serialize._common`, which every format writes through.
    """
    dump = common._dump_data

    def dump_data(path: Any, data: Any, dumper: Any, fs: Any = None, **options: Any) -> None:
        if fs is not None and fs.protocol != "local":
            dump(path, data, dumper, fs, **options)
            return
        text = io.StringIO()
        dumper(data, text, **options)
        write(Path(path), text.getvalue())

    common._dump_data = dump_data


def write(path: Path, text: str) -> None:
    """Put the text at the path in one step; it is on the disk before it bears the name.

    What an earlier writer left when it was killed is removed.
    """
    path = path.resolve()
    for left in path.parent.glob(f".{glob.escape(path.name)}.*.partial"):
        with suppress(FileNotFoundError, ValueError):  # it is gone by now; its name is none of ours
            if not runs(int(left.suffixes[-2][1:]), left.stat().st_mtime):
                left.unlink()
    beside = path.parent / f".{path.name}.{os.getpid()}.partial"
    try:
        with beside.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileNotFoundError):
            beside.chmod(path.stat().st_mode)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def runs(pid: int, written: float) -> bool:
    """Whether the process runs that has written something, and not another one that has its number by now.

    A killed one keeps its number until somebody asks how it ended, which in a container without an init nobody does.

    Args:
        pid: its number.
        written: when it wrote, in seconds since 1970.
    """
    import psutil

    try:
        process = psutil.Process(pid)
        return bool(process.create_time() <= written and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
