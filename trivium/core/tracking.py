"""MLflow, one run a stage execution; a no-op when off.

Importing MLflow takes seconds, so a stage never does: it writes events, one JSON object a line, into a file of its own
in a spool. One process, `tracking_writer.py`, started by the first stage that finds none, follows the files of all
stages.
"""

import fcntl
import json
import math
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import yaml

from trivium.core.curves import Curves
from trivium.core.redaction import redacted

APART = "trivium.core.tracking_writer"  # of what a stage makes, nothing depends on what it does with the events

SPOOL = Path(".work") / "tracking"
"""Where stages leave their events, below the project's root."""

_BEFORE_OUTS = re.compile(r"^    (?:deps|params):\n(?:    [- ].*\n)+", re.MULTILINE)
"""What stands before the outputs of a stage in `dvc.lock`: most of the file, and of the time to parse it."""

LOCK_WAIT = 15.0
"""Seconds after which `dvc.lock` is read although DVC holds its lock: a stage must go on."""


class Tracker:
    """Takes curves and final metrics of one stage execution.

    Attributes:
        curves: keeps the curves for the stage's own table; None: nobody does.
    """

    def __init__(self, events: IO[str] | None = None, curves: Curves | None = None) -> None:
        """Metrics and curves go to MLflow as `events`, or nowhere."""
        self._events, self.curves = events, curves

    def _send(self, kind: str, fields: Mapping[str, Any]) -> None:
        if self._events is None:
            return
        try:
            self._events.write(json.dumps({"kind": kind, "time": int(time.time() * 1000), **fields}) + "\n")
            self._events.flush()
        except OSError as error:
            with suppress(OSError):  # what it could not write it tries again
                self._events.close()
            self._events = None
            _warn(f"not tracked from here on: {error}")

    def send(self, step: int, values: Mapping[str, float]) -> None:
        """One point for MLflow alone; values that are not finite are left out."""
        finite = {name: float(value) for name, value in values.items() if math.isfinite(value)}
        self._send("point", {"step": step, "values": finite})

    def log(self, step: int, **values: float) -> None:
        """One point of one or more curves; values that are not finite are left out of the curve."""
        if self.curves is not None:
            self.curves.keep(step, values)
        self.send(step, values)

    def final(self, metrics: Mapping[str, float], *, seconds: float) -> None:
        """The stage's flat metrics, as `final/<name>` (a curve may bear the name itself), and its duration."""
        numbers = {f"final/{name}": value for name, value in metrics.items() if isinstance(value, (int, float))}
        self.send(0, {**numbers, "seconds": seconds})


@contextmanager
def track(
    section: str, values: Mapping[str, Any], inputs: Sequence[Path], *, enabled: bool, curves: Curves | None = None
) -> Iterator[Tracker]:
    """Open a run for a stage execution; it is marked failed when the block raises.

    Tracking that fails is told on stderr; the stage goes on.

    Args:
        section: the stage's section of `params.yaml`.
        values: the section's values, logged as parameters.
        inputs: their hashes are read from `dvc.lock` and logged as tags.
        enabled: `run.mlflow` in `params.yaml`.
        curves: keeps what is logged, whether MLflow gets it or not.
    """
    if not enabled:
        yield Tracker(curves=curves)
        return
    root = project_root()
    with ExitStack() as stack:
        tracker, writer = Tracker(curves=curves), None
        try:
            tracker = Tracker(stack.enter_context(_event_file(root / SPOOL)), curves)
            tracker._send("start", _start(section, values, inputs))
            writer = _wake_writer(root)
        except OSError as error:
            _warn(f"incomplete: {error}")
        status = "FAILED"
        try:
            yield tracker
            status = "FINISHED"
        finally:
            # The writer goes on by itself; waiting for it would cost every stage its import time.
            tracker._send("end", {"status": status})
            if writer is not None and writer.poll():
                _warn(f"MLflow's writer failed, see {writer_log(root)}; the run waits in {root / SPOOL}")


def _start(section: str, values: Mapping[str, Any], inputs: Sequence[Path]) -> dict[str, Any]:
    stage = os.environ.get("DVC_STAGE", section)
    try:
        hashes = _input_hashes(inputs)
    except Exception as error:  # a `dvc.lock` that is half written may be anything
        _warn(f"no hashes of inputs, dvc.lock cannot be read: {error}")
        hashes = {}
    return {
        "name": f"{os.environ.get('DVC_EXP_NAME') or 'repro'}/{stage}",
        "parameters": {f"{section}.{key}": redacted(str(value)) for key, value in values.items()},
        "tags": {
            "dvc.stage": stage,
            "dvc.experiment": os.environ.get("DVC_EXP_NAME", ""),
            "git.baseline": os.environ.get("DVC_EXP_BASELINE_REV") or _git("rev-parse", "HEAD"),
            "git.dirty": str(bool(_git("status", "--porcelain", "--untracked-files=no"))),
            **hashes,
        },
    }


def _warn(problem: str) -> None:
    print(redacted(f"tracking: {problem}"), file=sys.stderr)


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
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[2]), *sys.path])}
    with writer_log(root).open("a") as log:
        # Its own session and its own output: it outlives the stage, and whoever reads the stage's output need not wait.
        return subprocess.Popen(
            [sys.executable, "-m", APART],
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


def locked(file: IO[str], kind: int = fcntl.LOCK_EX) -> bool:
    """Whether the lock was free, and is now held until the file is closed."""
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
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
    """Hashes of the outputs in `dvc.lock` that inputs are or lie in (the innermost), or else of those in them."""
    # libyaml, where it is there: PyYAML's own parser would cost every stage most of a second.
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    stages = (yaml.load(_BEFORE_OUTS.sub("", _dvc_lock()), loader) or {}).get("stages", {})
    known = {Path(out["path"]): out.get("md5", "") for stage in stages.values() for out in stage.get("outs", [])}
    outputs: set[Path] = set()
    for path in inputs:
        around = next((place for place in (path, *path.parents) if place in known), None)
        outputs.update([around] if around else [output for output in known if path in output.parents])
    return {f"input.{output.as_posix()}": known[output] for output in sorted(outputs)}


def _dvc_lock() -> str:
    """The text of `dvc.lock`; another DVC, which rewrites it in place under its own lock, is waited for."""
    file = Path("dvc.lock")
    if not file.exists():
        return ""
    with ExitStack() as stack:
        guard = Path(".dvc") / "tmp" / "lock"
        if guard.exists():
            lock = stack.enter_context(guard.open(encoding="utf-8"))
            deadline = time.monotonic() + LOCK_WAIT
            while not locked(lock, fcntl.LOCK_SH) and time.monotonic() < deadline:
                time.sleep(0.05)
        return file.read_text(encoding="utf-8")
