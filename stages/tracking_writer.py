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
from pathlib import Path
from typing import Any

from mlflow.entities import Metric, Param, RunTag
from mlflow.exceptions import MlflowException
from mlflow.tracking import MlflowClient

from stages.tracking import SPOOL, locked, project_root, writer_lock, writer_log

PIPELINES = ("kvqae", "decorrelation", "complexity", "world")

LINGER = 30.0
"""Seconds without a stage after which the writer ends: longer than DVC needs from one stage to the next."""

POLL = 0.5


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
        self._file = path.open("r+", encoding="utf-8")
        self._client = client
        self._run_id = ""

    def follow(self) -> bool:
        """Log what is new; whether the stage goes on."""
        gone = self._stage_is_gone()  # asked before reading, so that its last words are read
        points: list[Metric] = []
        status = "KILLED" if gone else ""
        for event in self._new_events():
            if event["kind"] == "start":
                self._run_id = self._start(event)
            elif event["kind"] == "point":
                points += [
                    Metric(_safe(key), value, event["time"], event["step"]) for key, value in event["values"].items()
                ]
            elif event["kind"] == "end":
                status = event["status"]
        for first in range(0, len(points), 1000):
            self._client.log_batch(self._run_id, metrics=points[first : first + 1000])
        if status and self._run_id:
            self._client.set_terminated(self._run_id, status)
        if status:
            self._file.close()
            self.path.unlink(missing_ok=True)
        return not status

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

    def _start(self, event: Mapping[str, Any]) -> str:
        experiment = self._client.get_experiment_by_name(event["pipeline"])
        if experiment is None:
            raise SystemExit(f"tracking: no MLflow experiment {event['pipeline']!r}; run `make mlflow` once")
        run = self._client.create_run(experiment.experiment_id, start_time=event["time"], run_name=event["name"])
        parameters = [Param(key, value[:6000]) for key, value in event["parameters"].items()]
        tags = [RunTag(key, value) for key, value in event["tags"].items()]
        self._client.log_batch(run.info.run_id, params=parameters, tags=tags)
        return run.info.run_id


def write_events(root: Path, *, linger: float = LINGER) -> None:
    """Log what stages write into the spool, until none has been at work for `linger` seconds.

    Returns at once when another writer is at work. What a writer that was killed had not finished is logged again,
    as a new run, by the next one.
    """
    spool = root / SPOOL
    while True:
        with writer_lock(root).open("a") as lock:
            if not locked(lock):
                return
            _follow_all(spool, root, linger)
        # A stage that came after the last look, and before the lock was free, started no writer.
        if not any(spool.glob("*.jsonl")):
            return


def _follow_all(spool: Path, root: Path, linger: float) -> None:
    client = prepare(root)
    followers: dict[Path, _Follower] = {}
    busy = time.monotonic()
    while followers or time.monotonic() - busy < linger:
        for path in sorted(spool.glob("*.jsonl")):
            if path not in followers:
                followers[path] = _Follower(path, client)
        followers = {path: follower for path, follower in followers.items() if _goes_on(follower)}
        if followers:
            busy = time.monotonic()
        time.sleep(POLL)


def _goes_on(follower: _Follower) -> bool:
    """Follow one stage; what MLflow refuses is set aside and told, so that it does not stop the others."""
    try:
        return follower.follow()
    except MlflowException as error:
        aside = follower.path.rename(follower.path.with_suffix(".refused"))
        print(f"tracking: MLflow refused a run, its events are kept in {aside}: {error}", file=sys.stderr, flush=True)
        return False


def _safe(name: str) -> str:
    """MLflow has no `@` in metric names."""
    return name.replace("@", "_at_")


if __name__ == "__main__":
    if "--prepare" in sys.argv:
        prepare(project_root())
        if refused := list((project_root() / SPOOL).glob("*.refused")):
            print(f"{len(refused)} runs were refused by MLflow, see {writer_log(project_root())}", file=sys.stderr)
    else:
        write_events(project_root())
