"""MLflow, one run a stage execution; a no-op when off.

Importing MLflow takes seconds, so a stage never does: it writes events, one JSON object a line, into a file of its own
in a spool. One process, `tracking_writer.py`, started by the first stage that finds none, follows the files of all
stages.
"""

import fcntl
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import yaml

SPOOL = Path(".work") / "tracking"
"""Where stages leave their events, below the project's root."""


class Tracker:
    """Sends curves and final metrics of one stage execution to MLflow, or nowhere."""

    def __init__(self, events: IO[str] | None = None) -> None:
        self._events = events

    def _send(self, kind: str, **fields: Any) -> None:
        if self._events is not None:
            self._events.write(json.dumps({"kind": kind, "time": int(time.time() * 1000), **fields}) + "\n")
            self._events.flush()

    def log(self, step: int, **values: float) -> None:
        """One point of one or more curves; values that are not finite are left out of the curve."""
        finite = {name: float(value) for name, value in values.items() if math.isfinite(value)}
        self._send("point", step=step, values=finite)

    def final(self, metrics: Mapping[str, float], *, seconds: float) -> None:
        """The stage's flat metrics and its duration."""
        numbers = {name: value for name, value in metrics.items() if isinstance(value, (int, float))}
        self.log(0, **numbers, seconds=seconds)


@contextmanager
def track(section: str, values: Mapping[str, Any], inputs: Sequence[Path], *, enabled: bool) -> Iterator[Tracker]:
    """Open a run for a stage execution; it is marked failed when the block raises.

    Args:
        section: the stage's section of `params.yaml`; its first part names the MLflow experiment.
        values: the section's values, logged as parameters.
        inputs: their hashes are read from `dvc.lock` and logged as tags.
        enabled: `run.mlflow` in `params.yaml`.
    """
    if not enabled:
        yield Tracker()
        return
    root = project_root()
    stage = os.environ.get("DVC_STAGE", section)
    with _event_file(root / SPOOL) as events:
        tracker = Tracker(events)
        tracker._send(
            "start",
            pipeline=section.split(".")[0],
            name=f"{os.environ.get('DVC_EXP_NAME') or 'repro'}/{stage}",
            parameters={f"{section}.{key}": str(value) for key, value in values.items()},
            tags={
                "dvc.stage": stage,
                "dvc.experiment": os.environ.get("DVC_EXP_NAME", ""),
                "git.baseline": os.environ.get("DVC_EXP_BASELINE_REV") or _git("rev-parse", "HEAD"),
                "git.dirty": str(bool(_git("status", "--porcelain", "--untracked-files=no"))),
                **_input_hashes(inputs),
            },
        )
        writer = _wake_writer(root)
        status = "FAILED"
        try:
            yield tracker
            status = "FINISHED"
        finally:
            # The writer goes on by itself; waiting for it would cost every stage its import time.
            tracker._send("end", status=status)
            if writer is not None and writer.poll():
                print(
                    f"tracking: MLflow's writer failed, see {writer_log(root)}; the run waits in {root / SPOOL}",
                    file=sys.stderr,
                )


@contextmanager
def _event_file(spool: Path) -> Iterator[IO[str]]:
    """A new file in the spool, locked (by this process alone, not by its forks) from before it bears its name."""
    spool.mkdir(parents=True, exist_ok=True)
    part = spool / f"{time.time_ns()}-{os.getpid()}.part"
    with part.open("w", encoding="utf-8") as events:
        fcntl.lockf(events, fcntl.LOCK_EX)
        part.rename(part.with_suffix(".jsonl"))
        yield events


def _wake_writer(root: Path) -> "subprocess.Popen[bytes] | None":
    """Start the writer, unless one is at work. Of several started at once all but one end at once."""
    with writer_lock(root).open("a") as lock:
        if not locked(lock):
            return None
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[1]), *sys.path])}
    with writer_log(root).open("a") as log:
        # Its own session and its own output: it outlives the stage, and whoever reads the stage's output need not wait.
        return subprocess.Popen(
            [sys.executable, "-m", "stages.tracking_writer"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=environment,
            cwd=root,
            start_new_session=True,
        )


def writer_lock(root: Path) -> Path:
    """Held by the writer at work."""
    return root / SPOOL / "writer.lock"


def writer_log(root: Path) -> Path:
    """What the writers say."""
    return root / SPOOL / "writer.log"


def locked(file: IO[str]) -> bool:
    """Whether the lock was free, and is now held until the file is closed."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def project_root() -> Path:
    """Where `mlflow.db`, the spool and the journal of answers lie: the main repository.

    In an experiment's folder that vanishes, too: DVC sets DVC_ROOT to the repository that the experiment was started
    from, as `make thorough` does for its copies.
    """
    return Path(os.environ.get("DVC_ROOT") or Path.cwd()).resolve()


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], capture_output=True, text=True, check=False)
    return done.stdout.strip()


def _input_hashes(inputs: Sequence[Path]) -> dict[str, str]:
    lock = Path("dvc.lock")
    # libyaml, where it is there: PyYAML's own parser would cost every stage most of a second.
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    stages = (yaml.load(lock.read_text(encoding="utf-8"), loader) or {}).get("stages", {}) if lock.exists() else {}
    known = {out["path"]: out.get("md5", "") for stage in stages.values() for out in stage.get("outs", [])}
    return {f"input.{path.as_posix()}": known[path.as_posix()] for path in inputs if path.as_posix() in known}
