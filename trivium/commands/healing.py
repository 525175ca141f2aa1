"""What a killed DVC leaves broken: restored or removed before a run, and said; its run cache has the rest."""

import json
import re
import sys
from contextlib import suppress
from pathlib import Path

import psutil
from dvc.dvcfile import Lockfile
from dvc.exceptions import DvcException
from dvc.repo import Repo
from dvc.rwlock import SCHEMA, Invalid

from trivium.core.tracking import git


def heal(repo: Repo) -> None:
    """Remove a broken or left `rwlock` and empty folders of the run cache; restore a `dvc.lock` that DVC refuses."""
    lock, rwlock = Path("dvc.lock"), Path(str(repo.tmp_dir)) / "rwlock"
    try:
        text = rwlock.read_text() if rwlock.exists() else "{}"
        SCHEMA(json.loads(text))
    except (ValueError, Invalid):
        rwlock.unlink()
        print(f"DVC was killed while it wrote '{rwlock.name}': the file is removed", file=sys.stderr)
    else:
        pids = re.findall(r'"pid": (\d+)', text)
        if pids and not any(map(is_running, map(int, pids))):
            rwlock.unlink()
    for folder in Path(repo.stage_cache.cache_dir).glob("*/*"):
        with suppress(OSError):  # not empty
            folder.rmdir()
    if is_refused(repo) and b"\n<<<<<<< " not in lock.read_bytes():  # a conflict is the user's to resolve
        git("checkout", "-q", "--", lock.name)
        is_back = not is_refused(repo)
        print(f"DVC refuses '{lock.name}': {'it is back from Git' if is_back else 'it is removed'}", file=sys.stderr)
        if not is_back:
            lock.unlink()


def is_running(pid: int) -> bool:
    """Whether a process runs; a zombie, which DVC takes for alive, does not."""
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


def is_refused(repo: Repo) -> bool:
    """Whether DVC cannot read its lock file, or finds it invalid."""
    try:
        Lockfile(repo, "dvc.lock").load()
    except DvcException:
        return True
    return False
