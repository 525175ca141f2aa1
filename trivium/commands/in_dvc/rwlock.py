"""DVC's list of who reads and writes what: written in one step, and readable again where a kill left it broken.

DVC (issue 7615) empties `.dvc/tmp/rwlock` before it writes it; killed in between, it refuses every later run.
"""

import json
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .atomic_files import runs, write


def install(rwlock: Any) -> None:
    """Replace how the list is edited.

    Args:
        rwlock: the module `dvc.rwlock`.
    """

    @contextmanager
    def edit_rwlock(lock_dir: str, fs: Any, hardlink: bool) -> Iterator[dict[str, Any]]:
        file = Path(lock_dir) / rwlock.RWLOCK_FILE
        guard = rwlock.make_lock(fs.join(lock_dir, rwlock.RWLOCK_LOCK), tmp_dir=lock_dir, hardlink_lock=hardlink)
        with guard:
            entries = read(rwlock, file)
            yield entries
            write(file, json.dumps(entries))

    rwlock._edit_rwlock = edit_rwlock


def read(rwlock: Any, file: Path) -> dict[str, Any]:
    """The entries of those who run; a broken list is an empty one, which is said.

    Whoever is left of a killed DVC is out of the list when its number is by now that of a process that started after
    the list was written: DVC itself only asks whether there is any process of that number, and waits for it.
    """
    entries: dict[str, Any] = rwlock.SCHEMA({})
    written = 0.0
    try:
        written = file.stat().st_mtime
        entries = rwlock.SCHEMA(json.loads(file.read_text(encoding="utf-8")))
    except FileNotFoundError:
        pass
    except (ValueError, rwlock.Invalid):
        rwlock.logger.warning("'%s' was broken off by a kill: it starts again, empty", file)
    write = {path: info for path, info in entries["write"].items() if runs(info["pid"], written)}
    read = {path: [info for info in infos if runs(info["pid"], written)] for path, infos in entries["read"].items()}
    return {
        "write": defaultdict(dict, write),
        "read": defaultdict(list, {path: infos for path, infos in read.items() if infos}),
    }
