"""What an interruption of DVC leaves: processes are ended, and files that it left broken are mended at the next start.

What a broken file recorded is in DVC's run cache.
"""

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


def heal(project: Repo) -> None:
    """Remove a broken or left `rwlock` and empty folders of the run cache; restore a `dvc.lock` that DVC refuses."""
    lock, rwlock = Path("dvc.lock"), Path(str(project.tmp_dir)) / "rwlock"
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
    for folder in Path(project.stage_cache.cache_dir).glob("*/*"):
        with suppress(OSError):  # not empty
            folder.rmdir()
    if is_refused(project) and b"\n<<<<<<< " not in lock.read_bytes():  # a conflict is the user's to resolve
        git("checkout", "-q", "--", lock.name)
        is_back = not is_refused(project)
        print(f"DVC refuses '{lock.name}': {'it is back from Git' if is_back else 'it is removed'}", file=sys.stderr)
        if not is_back:
            lock.unlink()


def is_running(pid: int) -> bool:
    """Whether a process runs; a zombie, which DVC takes for alive, does not."""
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


def is_refused(project: Repo) -> bool:
    """Whether DVC cannot read its lock file, or finds it invalid."""
    try:
        Lockfile(project, "dvc.lock").load()
    except DvcException:
        return True
    return False


def end_children() -> None:
    """End all processes that this one has started, at any depth."""
    children = psutil.Process().children(recursive=True)
    for child in children:
        with suppress(psutil.NoSuchProcess):
            child.terminate()
    for child in psutil.wait_procs(children, timeout=3)[1]:
        with suppress(psutil.NoSuchProcess):
            child.kill()
