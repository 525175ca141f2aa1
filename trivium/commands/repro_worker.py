"""A process of `make repro`, which opens DVC's project once and reproduces single stages."""

import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

import psutil
from dvc.repo import Repo

from trivium.core.engine import end_with_parent

repo: Repo


def begin_worker() -> None:
    """Open the project; the process ends with its stage when its parent does."""
    global repo
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends all
    end_with_parent(stop)
    repo = Repo(_wait_for_lock=True)
    repo.scm_context.quiet = True


def reproduce(stage: str, cores: int) -> str:
    """Reproduce one stage; returns why it failed, the last line that it printed, or an empty text."""
    os.environ["STAGE_WORKERS"] = str(cores)
    log, error, outputs = Path(".work") / f"{stage}.log", "", [(os.dup(output), output) for output in (1, 2)]
    with subprocess.Popen(["tee", log], stdin=subprocess.PIPE) as copying:
        assert copying.stdin is not None
        for _, output in outputs:
            os.dup2(copying.stdin.fileno(), output)
        try:
            repo.reproduce(stage, single_item=True)
        except Exception as failure:  # as DVC does
            error = str(failure.__cause__ or failure)
            print(f"stage '{stage}' failed: {error}", flush=True)
        finally:
            for kept, output in outputs:
                os.dup2(kept, output)
                os.close(kept)
    lines = [line.strip() for line in log.read_text("utf-8", "replace").splitlines()] if error else []
    log.unlink()
    own = [line for line in lines if line and not line.startswith((">", "Running stage '", "stage '", "failed to"))]
    return own[-1] if own else error


def stop() -> None:
    """End all child processes, at any depth."""
    children = psutil.Process().children(recursive=True)
    for child in children:
        with suppress(psutil.NoSuchProcess):
            child.terminate()
    for child in psutil.wait_procs(children, timeout=3)[1]:
        with suppress(psutil.NoSuchProcess):
            child.kill()
