"""The process that logs what stages write into the spool of `tracking.py`: it alone imports MLflow.

It ends when no stage has been at work for a while. A stage holds a lock on its file of events: a file without a lock
and without an `end` event is a stage that was killed, and its run says so.
"""

import fcntl
import json
import os
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from mlflow.entities import Metric, Param
from mlflow.exceptions import MlflowException
from mlflow.tracking import MlflowClient

from trivium.harness.tracking import SPOOL, locked, project_root, writer_lock, writer_log
from trivium.redaction import redact_output, redacted

PIPELINES = ("kvqae", "decorrelation", "complexity", "world")

LINGER = 30.0
"""Seconds without a stage after which the writer ends: longer than DVC needs from one stage to the next."""

POLL = 0.5

RETRY = 5.0
"""Seconds after which a run is tried again that MLflow could not take."""

REFUSALS = ("INVALID_PARAMETER_VALUE", "BAD_REQUEST", "RESOURCE_DOES_NOT_EXIST")
"""MLflow's codes for what it will not take another time either; any other may be a matter of the moment."""

EVENTS = "trivium.events"
"""The tag that bears the name of a run's file of events: by it a later writer goes on with the run."""


def tracking_uri(root: Path) -> str:
    """`MLFLOW_TRACKING_URI`, or a database at the project's root (absolute: experiments run in folders that vanish)."""
    return os.environ.get("MLFLOW_TRACKING_URI") or f"sqlite:///{root / 'mlflow.db'}"


def prepare(root: Path) -> MlflowClient:
    """Create the database and one experiment a pipeline, once: concurrent first use would destroy the database."""
    with (root / "mlflow.db.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        client = MlflowClient(tracking_uri(root))
        for pipeline in PIPELINES:
            if client.get_experiment_by_name(pipeline) is None:
                client.create_experiment(pipeline, artifact_location=(root / "mlartifacts" / pipeline).as_uri())
    return client


class _Follower:
    """Logs one stage's events as one MLflow run, as they come."""

    def __init__(self, path: Path, client: MlflowClient) -> None:
        self.path = path
        self.stuck = False  # MLflow could not take what there is
        self._try_again = 0.0
        self._file = path.open("r+", encoding="utf-8")
        self._client = client
        self._run_id = ""
        # What was read and is not logged yet.
        self._start: dict[str, Any] | None = None
        self._points: list[Metric] = []
        self._status = ""

    def goes_on(self) -> bool:
        """Log what is new; whether more is to come. What MLflow refuses is set aside and told, and stops no other."""
        if self.stuck and time.monotonic() < self._try_again:
            return True
        try:
            going_on = self._follow()
        except MlflowException as error:
            if error.error_code in REFUSALS:
                self._set_aside(error)
                return False
            if not self.stuck:
                _say(f"MLflow cannot take a run now, it is tried again, its events are in {self.path}: {error}")
            self.stuck, self._try_again = True, time.monotonic() + RETRY
            return True
        self.stuck = False
        return going_on

    def _follow(self) -> bool:
        """Log what is new and what could not be logged before; whether the stage goes on."""
        gone = self._stage_is_gone()  # asked before reading, so that its last words are read
        for event in self._new_events():
            if event["kind"] == "start":
                self._start = event
            elif event["kind"] == "point":
                self._points += [
                    Metric(_safe(key), value, event["time"], event["step"]) for key, value in event["values"].items()
                ]
            elif event["kind"] == "end":
                self._status = event["status"]
        if gone and not self._status:
            self._status = "KILLED"
        if self._start is not None:
            self._run_id = self._run_id or self._run_of(self._start)
            parameters = [Param(key, value[:6000]) for key, value in self._start["parameters"].items()]
            self._client.log_batch(self._run_id, params=parameters)
            self._start = None
        while self._run_id and self._points:
            self._client.log_batch(self._run_id, metrics=self._points[:1000])
            del self._points[:1000]
        if self._run_id and self._status:
            self._client.set_terminated(self._run_id, self._status)
        if self._status:
            self._file.close()
            self.path.unlink(missing_ok=True)
        return not self._status

    def _set_aside(self, error: MlflowException) -> None:
        aside = self.path.rename(self.path.with_suffix(".refused"))
        _say(f"MLflow refused a run, its events are kept in {aside}: {error}")
        if self._run_id:
            with suppress(MlflowException):
                self._client.set_terminated(self._run_id, "FAILED")

    def _stage_is_gone(self) -> bool:
        try:
            fcntl.lockf(self._file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return False
        return True

    def _new_events(self) -> Iterator[dict[str, Any]]:
        """Whole lines only: the stage may be in the middle of one."""
        while True:
            place = self._file.tell()
            line = self._file.readline()
            if not line.endswith("\n"):
                self._file.seek(place)
                return
            yield json.loads(line)

    def _run_of(self, start: Mapping[str, Any]) -> str:
        """A new run, or the one that an earlier writer, or an attempt whose answer was lost, began."""
        experiment = self._client.get_experiment_by_name(start["pipeline"])
        if experiment is None:
            raise SystemExit(f"tracking: no MLflow experiment {start['pipeline']!r}; run `make mlflow` once")
        begun = self._client.search_runs([experiment.experiment_id], f"tags.`{EVENTS}` = '{self.path.name}'")
        if begun:
            return begun[0].info.run_id
        tags = {**start["tags"], EVENTS: self.path.name}
        run = self._client.create_run(experiment.experiment_id, start["time"], tags, start["name"])
        return run.info.run_id


def write_events(root: Path, *, linger: float = LINGER) -> None:
    """Log what stages write into the spool, until none has been at work for `linger` seconds.

    Returns at once when another writer is at work. What a writer that was killed, or MLflow while it could not be
    reached, left in the spool the next one goes on with; a database takes a point once, however often it is sent.
    """
    spool = root / SPOOL
    while True:
        with writer_lock(root).open("a") as lock:
            if not locked(lock):
                return
            left = _follow_all(spool, root, linger)
        # A stage that came after the last look, and before the lock was free, started no writer.
        if left.issuperset(spool.glob("*.jsonl")):
            return


def _follow_all(spool: Path, root: Path, linger: float) -> set[Path]:
    """Follow stages until none has been at work for a while; the files that MLflow could not take meanwhile."""
    client = prepare(root)
    followers: dict[Path, _Follower] = {}
    busy, at_work = time.monotonic(), False
    while at_work or time.monotonic() - busy < linger:
        for path in sorted(spool.glob("*.jsonl")):
            if path not in followers:
                followers[path] = _Follower(path, client)
        followers = {path: follower for path, follower in followers.items() if follower.goes_on()}
        at_work = not all(follower.stuck for follower in followers.values())
        if at_work:
            busy = time.monotonic()
        time.sleep(POLL)
    return set(followers)


def _say(text: str) -> None:
    print(redacted(f"tracking: {text}"), file=sys.stderr, flush=True)


def _safe(name: str) -> str:
    """MLflow has no `@` in metric names."""
    return name.replace("@", "_at_")


if __name__ == "__main__":
    redact_output()
    if "--prepare" in sys.argv:
        prepare(project_root())
        if refused := list((project_root() / SPOOL).glob("*.refused")):
            print(f"{len(refused)} runs were refused by MLflow, see {writer_log(project_root())}", file=sys.stderr)
    else:
        write_events(project_root())
