"""Log curves of trainings to MLflow as they come; the graph's last stage logs the rest (`stages/track.py`).

A `dvc repro`, or an experiment of DVC, is one run of MLflow's experiment `trivium`; each training is a child of it.
Only what logs imports MLflow, which takes seconds. What fails here is printed to stderr and fails no stage.
"""

import fcntl
import hashlib
import math
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trivium.core.curves import Curves
from trivium.core.errors import redact

if TYPE_CHECKING:
    from mlflow import MlflowClient

Point = tuple[str, float, int, int]  # name, value, milliseconds since 1970, step
EXPERIMENT = "trivium"  # holds all runs: MLflow shows children below their parent in the same experiment only
INTERVAL = 2.0  # seconds between two batches of points


def project_root() -> Path:
    """Where `mlflow.db` and the journal of answers lie; DVC says it where an experiment's own folder vanishes."""
    return Path(os.environ.get("DVC_ROOT") or Path.cwd()).resolve()


def git(*arguments: str) -> str:
    """The output of a Git command; empty where it fails."""
    return subprocess.run(["git", *arguments], capture_output=True, text=True, check=False).stdout.strip()


@contextmanager
def connect() -> Iterator["MlflowClient"]:
    """MLflow's client, for one process at a time: concurrent first use would destroy a new database.

    A database of this project is made without MLflow's own empty experiment.
    """
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "2")  # no training waits for a server that is away
    from mlflow import MlflowClient

    address, database = os.environ.get("MLFLOW_TRACKING_URI"), project_root() / "mlflow.db"
    with database.with_suffix(".db.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        new = not address and not database.exists()
        client = MlflowClient(address or f"sqlite:///{database}")
        for experiment in client.search_experiments() if new else []:
            client.delete_experiment(experiment.experiment_id)
        yield client


def open_run(client: "MlflowClient", name: str = "", tags: Mapping[str, str] | None = None) -> str:
    """The run of a name and tags that has not finished; by default that of this `dvc repro` or experiment."""
    others: dict[str, str] = {}
    if tags is None:
        name = os.environ.get("DVC_EXP_NAME", "")
        tags = {
            "dvc.experiment": name,
            "git.baseline": os.environ.get("DVC_EXP_BASELINE_REV") or git("rev-parse", "HEAD"),
            "trivium.project": hashlib.sha256(f"{socket.gethostname()}:{project_root()}".encode()).hexdigest()[:16],
        }
        others = {"git.dirty": str(bool(git("status", "--porcelain", "--untracked-files=no")))}
    name = name or "repro"
    existing = client.get_experiment_by_name(EXPERIMENT)
    place = (project_root() / "mlartifacts").as_uri()
    experiment = existing.experiment_id if existing else client.create_experiment(EXPERIMENT, place)
    conditions = [f"tags.`{key}` = '{value}'" for key, value in tags.items() if value]
    conditions += [f"attributes.run_name = '{name}'", "attributes.status != 'FINISHED'"]
    for run in client.search_runs([experiment], " and ".join(conditions)):
        client.update_run(run.info.run_id, "RUNNING")
        return str(run.info.run_id)
    return str(client.create_run(experiment, tags={**tags, **others}, run_name=name).info.run_id)


def log_values(client: "MlflowClient", run: str, parameters: Mapping[str, Any], points: Sequence[Point]) -> None:
    """Log parameters and points."""
    from mlflow.entities import Metric, Param

    metrics = [Metric(name.replace("@", "_at_"), value, time, step) for name, value, time, step in points]  # as it must
    client.log_batch(run, metrics, [Param(key, redact(str(value))[:6000]) for key, value in parameters.items()])


class Tracker:
    """Takes the curves of one execution of a stage, for the stage's own table and for MLflow.

    Args:
        curves: keeps them for the table; None: no table is written.
        stage: name of the run; empty: MLflow gets nothing.
        work: names the work: a training that was killed and goes on is the same run.
        parameters: by their keys.
    """

    def __init__(self, curves: Curves | None = None, stage: str = "", work: str = "", **parameters: Any) -> None:
        self.curves, self.stage, self.work, self.parameters = curves, stage, work, parameters
        self._client: MlflowClient | None = None
        self._run = self._parent = ""
        self._points: list[Point] = []
        self._sent = -math.inf  # the first point goes at once: whoever watches sees that a training has begun

    def log(self, step: int, **values: float) -> None:
        """One point of one or more curves; values that are not finite are left out."""
        if self.curves is not None:
            self.curves.keep(step, values)
        if self.stage:
            now = int(time.time() * 1000)
            self._points += [(name, float(value), now, step) for name, value in values.items() if math.isfinite(value)]
            if time.monotonic() - self._sent > INTERVAL or len(self._points) > 500:
                self._flush()

    def __enter__(self) -> "Tracker":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Send what is left, and end the run; there is none where no point was logged."""
        if self._points or self._client is not None:
            self._flush("FAILED" if kind else "FINISHED")

    def _flush(self, status: str | None = None) -> None:
        try:
            if self._client is None:
                with connect() as self._client:
                    self._parent = open_run(self._client)
                    tags = {"mlflow.parentRunId": self._parent, "trivium.work": self.work}
                    self._run = open_run(self._client, self.stage, tags)
            log_values(self._client, self._run, self.parameters, self._points)
            for run in (self._run, self._parent)[: 2 if status == "FAILED" else 1] if status else ():
                self._client.set_terminated(run, status)
        except Exception as error:  # MLflow's, its database's, its server's: the table has the curves all the same
            print(redact(f"tracking: not tracked from here on: {error}"), file=sys.stderr)
            self.stage, self._client = "", None
        self.parameters, self._points, self._sent = {}, [], time.monotonic()
