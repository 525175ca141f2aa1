"""The process that logs what stages write into the spool of `tracking.py`: it alone imports MLflow.

It ends when no stage has been at work for a while. A stage holds a lock on its file of events: a file without a lock
and without an `end` event is a stage that was killed, and its run says so.

A `dvc repro`, or an experiment, is one run, and each stage that really ran is a child of it with its curves. The
parent gets what one compares: parameters that differ from the commit, the headline, figures and the page.
"""

import fcntl
import hashlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")  # MLflow reads it when it is imported

from mlflow.entities import Metric, Param
from mlflow.exceptions import MlflowException
from mlflow.tracking import MlflowClient
from mlflow.utils.mlflow_tags import MLFLOW_PARENT_RUN_ID

from trivium.core.redaction import redact_output, redacted
from trivium.core.tracking import SPOOL, locked, project_root, writer_lock, writer_log

EXPERIMENT = "trivium"
"""MLflow's experiment, which holds all runs: MLflow shows children below their parent in the same one only."""

LINGER = 30.0
"""Seconds without a stage after which the writer ends: longer than DVC needs from one stage to the next."""

POLL = 0.5

RETRY = 5.0
"""Seconds after which a run is tried again that MLflow could not take."""

REFUSALS = ("INVALID_PARAMETER_VALUE", "BAD_REQUEST", "RESOURCE_DOES_NOT_EXIST")
"""MLflow's codes for what it will not take another time either; any other may be a matter of the moment."""

EVENTS = "trivium.events"
"""The tag that bears the name of a run's file of events: by it a later writer goes on with the run."""

PROJECT = "trivium.project"
"""The tag of a parent that says whose it is: machines may share a database."""

SUMMARY = "trivium.commands.tracked_run"


def tracking_uri(root: Path) -> str:
    """`MLFLOW_TRACKING_URI`, or a database at the project's root (absolute: experiments run in folders that vanish)."""
    return os.environ.get("MLFLOW_TRACKING_URI") or f"sqlite:///{root / 'mlflow.db'}"


def prepare(root: Path) -> MlflowClient:
    """Create the database, once: concurrent first use would destroy it. MLflow's own empty experiment goes from it."""
    with (root / "mlflow.db.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        new = not (root / "mlflow.db").exists()
        client = MlflowClient(tracking_uri(root))
        experiments = client.search_experiments()
        if new and (root / "mlflow.db").exists():
            for experiment in experiments:
                client.delete_experiment(experiment.experiment_id)
    return client


class _Parents:
    """The runs of `dvc repro` and of experiments, each the parent of its stages' runs."""

    def __init__(self, client: MlflowClient, root: Path) -> None:
        self._client = client
        self._root = root
        self._project = hashlib.sha256(f"{socket.gethostname()}:{root}".encode()).hexdigest()[:16]
        self._open = self._left_open()  # (experiment of DVC or nothing, commit) to run
        self._unfinished: dict[tuple[str, str], set[str]] = {}  # names of stages whose last run failed
        self._ends: dict[tuple[str, str], int] = {}  # when its last stage ended, in ms

    def _left_open(self) -> dict[tuple[str, str], str]:
        """What a writer that was killed, or an attempt whose answer was lost, began: it is gone on with."""
        experiment = self._client.get_experiment_by_name(EXPERIMENT)
        if experiment is None:
            return {}
        wanted = f"tags.`{PROJECT}` = '{self._project}' and attributes.status = 'RUNNING'"
        runs = self._client.search_runs([experiment.experiment_id], wanted)
        return {(run.data.tags["dvc.experiment"], run.data.tags["git.baseline"]): run.info.run_id for run in runs}

    def experiment_id(self) -> str:
        """MLflow's experiment; made with the first run, so that it is never empty."""
        if found := self._client.get_experiment_by_name(EXPERIMENT):
            return str(found.experiment_id)
        return str(self._client.create_experiment(EXPERIMENT, (self._root / "mlartifacts").as_uri()))

    def of(self, start: Mapping[str, Any]) -> str:
        """The run that a stage belongs to, new if need be."""
        key = _key(start)
        if key not in self._open:
            self._open = self._left_open() | self._open
        if key not in self._open:
            tags = {"dvc.experiment": key[0], "git.baseline": key[1], PROJECT: self._project}
            run = self._client.create_run(self.experiment_id(), start["time"], tags, key[0] or "repro")
            self._open[key] = run.info.run_id
        return self._open[key]

    def ended(self, start: Mapping[str, Any], status: str) -> None:
        """Note how a stage ended; one that runs again may mend it."""
        self._ends[_key(start)] = int(time.time() * 1000)
        unfinished = self._unfinished.setdefault(_key(start), set())
        (unfinished.discard if status == "FINISHED" else unfinished.add)(start["name"])

    def close(self) -> None:
        """No stage is at work any more: log what the runs were, and end them."""
        for key, run in self._open.items():
            try:
                self._log_summary(run, *key)
            except (MlflowException, OSError) as error:
                _say(f"MLflow does not take what {key[0] or 'a run'} was: {error}")
            with suppress(MlflowException):  # the next writer ends it
                status = "FAILED" if self._unfinished.get(key) else "FINISHED"
                self._client.set_terminated(run, status, self._ends.get(key))

    def _log_summary(self, run: str, name: str, baseline: str) -> None:
        """Ask a process of its own, which imports what this room must not."""
        since = self._client.get_run(run).info.start_time / 1000
        # This process has the variables of the stage that started it, and outlives the DVC that they tell of.
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("DVC_", "TRIVIUM_"))}
        with tempfile.TemporaryDirectory() as folder:
            options = ["--name", name, "--baseline", baseline, "--since", str(since), "--out", folder]
            done = subprocess.run(
                [sys.executable, "-m", SUMMARY, *options],
                cwd=self._root,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
            )
            if done.returncode:
                _say(f"what {name or 'a run'} was is not all logged: {done.stdout}")
            if (told := Path(folder) / "run.json").exists():
                self._log_numbers(run, **json.loads(told.read_text(encoding="utf-8")))
            if (files := Path(folder) / "files").exists():
                self._client.log_artifacts(run, str(files))

    def _log_numbers(self, run: str, parameters: Mapping[str, Any], metrics: Mapping[str, float]) -> None:
        now = int(time.time() * 1000)
        numbers = [Metric(_safe(key), value, now, 0) for key, value in metrics.items()]
        differing = [Param(key, redacted(str(value))[:6000]) for key, value in parameters.items()]
        self._client.log_batch(run, metrics=numbers)
        for first in range(0, len(differing), 100):  # as many as MLflow takes at once
            self._client.log_batch(run, params=differing[first : first + 100])


def _key(start: Mapping[str, Any]) -> tuple[str, str]:
    """(DVC's experiment or nothing, commit) of a stage's run."""
    return start["tags"].get("dvc.experiment", ""), start["tags"].get("git.baseline", "")


class _Follower:
    """Logs one stage's events as one MLflow run, as they come."""

    def __init__(self, path: Path, client: MlflowClient, parents: _Parents) -> None:
        self.path = path
        self.stuck = False  # MLflow could not take what there is
        self._try_again = 0.0
        self._file = path.open("r+", encoding="utf-8")
        self._client = client
        self._parents = parents
        self._run_id = ""
        self._began: dict[str, Any] = {}  # its first event
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
                self._start = self._began = event
            elif event["kind"] == "point":
                # What a stage ends with is no curve, and stands in metrics/: MLflow would draw thousands of bars.
                self._points += [
                    Metric(_safe(key), value, event["time"], event["step"])
                    for key, value in event["values"].items()
                    if not key.startswith("final/")
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
            self._parents.ended(self._began, self._status)
        if self._status:
            self._file.close()
            self.path.unlink(missing_ok=True)
        return not self._status

    def _set_aside(self, error: MlflowException) -> None:
        aside = self.path.rename(self.path.with_suffix(".refused"))
        _say(f"MLflow refused a run, its events are kept in {aside}: {error}")
        if self._run_id:
            self._parents.ended(self._began, "FAILED")
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
        experiment = self._parents.experiment_id()
        begun = self._client.search_runs([experiment], f"tags.`{EVENTS}` = '{self.path.name}'")
        if begun:
            return str(begun[0].info.run_id)
        tags = {**start["tags"], EVENTS: self.path.name, MLFLOW_PARENT_RUN_ID: self._parents.of(start)}
        stage = start["name"].rpartition("/")[2]
        return str(self._client.create_run(experiment, start["time"], tags, stage).info.run_id)


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
    parents = _Parents(client, root)
    followers: dict[Path, _Follower] = {}
    busy, at_work = time.monotonic(), False
    while at_work or time.monotonic() - busy < linger:
        for path in sorted(spool.glob("*.jsonl")):
            if path not in followers:
                followers[path] = _Follower(path, client, parents)
        followers = {path: follower for path, follower in followers.items() if follower.goes_on()}
        at_work = not all(follower.stuck for follower in followers.values())
        if at_work:
            busy = time.monotonic()
        time.sleep(POLL)
    if not followers:
        parents.close()
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
