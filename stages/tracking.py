"""MLflow, one run a stage execution; a no-op when off.

Importing MLflow takes seconds, so a stage never does: it writes events, one JSON object a line, into the pipe of a
writer process (this module run as a script) that imports MLflow beside it and logs them. The pipe also tells how the
stage ended: without an `end` event the stage was killed, and the run says so.
"""

import fcntl
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import yaml

PIPELINES = ("kvqae", "decorrelation", "complexity", "world")


class Tracker:
    """Sends curves and final metrics of one stage execution to MLflow, or nowhere."""

    def __init__(self, pipe: IO[str] | None = None) -> None:
        self._pipe = pipe

    def _send(self, kind: str, **fields: Any) -> None:
        if self._pipe is not None:
            try:
                self._pipe.write(json.dumps({"kind": kind, "time": int(time.time() * 1000), **fields}) + "\n")
                self._pipe.flush()
            except BrokenPipeError:
                print("tracking: MLflow's writer has ended (see its message above); going on without", file=sys.stderr)
                self._pipe = None

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
    root = _root()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[1]), *sys.path])}
    writer = subprocess.Popen(
        [sys.executable, "-m", "stages.tracking"], stdin=subprocess.PIPE, text=True, env=environment, cwd=root
    )
    assert writer.stdin is not None
    tracker = Tracker(writer.stdin)
    stage = os.environ.get("DVC_STAGE", section)
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
    status = "FAILED"
    try:
        yield tracker
        status = "FINISHED"
    finally:
        # The writer ends by itself after the last event; waiting for it would cost every stage its import time.
        tracker._send("end", status=status)
        with suppress(BrokenPipeError):
            writer.stdin.close()


def _root() -> Path:
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


def tracking_uri(root: Path) -> str:
    """`MLFLOW_TRACKING_URI`, or a database at the project's root (absolute: experiments run in folders that vanish)."""
    return os.environ.get("MLFLOW_TRACKING_URI") or f"sqlite:///{root / 'mlflow.db'}"


def prepare(root: Path) -> None:
    """Create the database and one experiment a pipeline, once: concurrent first use would destroy the database."""
    from mlflow.tracking import MlflowClient

    with (root / "mlflow.db.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        client = MlflowClient(tracking_uri(root))
        for pipeline in PIPELINES:
            if client.get_experiment_by_name(pipeline) is None:
                client.create_experiment(pipeline, artifact_location=(root / "mlartifacts" / pipeline).as_uri())


def write_events(events: Iterator[str], root: Path) -> None:
    """Log a stage's events, read from its pipe, as one MLflow run."""
    from mlflow.entities import Metric, Param, RunTag
    from mlflow.tracking import MlflowClient

    prepare(root)  # also waits for another writer that is creating the database just now
    client = MlflowClient(tracking_uri(root))
    run_id, status = None, "KILLED"
    for line in events:
        event = json.loads(line)
        if event["kind"] == "start":
            experiment = client.get_experiment_by_name(event["pipeline"])
            if experiment is None:
                raise SystemExit(f"tracking: no MLflow experiment {event['pipeline']!r}; run `make mlflow` once")
            run = client.create_run(experiment.experiment_id, start_time=event["time"], run_name=event["name"])
            run_id = run.info.run_id
            parameters = [Param(key, value[:6000]) for key, value in event["parameters"].items()]
            tags = [RunTag(key, value) for key, value in event["tags"].items()]
            client.log_batch(run_id, params=parameters, tags=tags)
        elif event["kind"] == "point" and run_id is not None:
            points = [Metric(_safe(key), value, event["time"], event["step"]) for key, value in event["values"].items()]
            for first in range(0, len(points), 1000):
                client.log_batch(run_id, metrics=points[first : first + 1000])
        elif event["kind"] == "end":
            status = event["status"]
    if run_id is not None:
        client.set_terminated(run_id, status)


def _safe(name: str) -> str:
    """MLflow has no `@` in metric names."""
    return name.replace("@", "_at_")


if __name__ == "__main__":
    if "--prepare" in sys.argv:
        prepare(_root())
    else:
        write_events(iter(sys.stdin), _root())
