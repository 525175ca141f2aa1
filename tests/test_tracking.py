import json
import subprocess
import time

import pytest

from stages.stage import execute
from stages.tracking import Tracker, prepare, write_events
from tests.test_stage import CountParameters
from tests.test_stage import main as count_main


def run(main, root):
    (root / "params.yaml").write_text("run: {mlflow: true, workers: 1}\nkvqae:\n  toy: {least: 2}\n")
    (root / "in.txt").write_text("a\nbb\n")
    return execute(main, "kvqae.toy", CountParameters, ["--lines", "in.txt"])


def curve_main(parameters, context, *, lines):
    for step in range(3):
        context.tracker.log(step, loss=3.0 - step, skipped=float("nan"))
    if lines.read_text() == "fail":
        raise RuntimeError
    return {"bm25_mrr@100": 0.25}


curve_main.__annotations__ = count_main.__annotations__ | {}


@pytest.fixture
def finished(tmp_path, monkeypatch):
    """Run a tracked stage twice at once, the database not yet there; give back the finished MLflow runs."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DVC_ROOT", str(tmp_path))
    monkeypatch.setenv("DVC_STAGE", "kvqae-toy")
    monkeypatch.setenv("DVC_EXP_NAME", "bold-idea")
    (tmp_path / "dvc.lock").write_text("stages:\n  make:\n    outs: [{path: in.txt, md5: abc123}]\n")
    subprocess.run(["git", "init", "-q"], check=True)
    run(curve_main, tmp_path)
    run(curve_main, tmp_path)
    from mlflow.tracking import MlflowClient

    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        if (tmp_path / "mlflow.db").exists():
            prepare(tmp_path)
            client = MlflowClient(f"sqlite:///{tmp_path / 'mlflow.db'}")
            experiment = client.get_experiment_by_name("kvqae")
            runs = client.search_runs([experiment.experiment_id]) if experiment else []
            if len(runs) == 2 and all(run.info.status == "FINISHED" for run in runs):
                return client, experiment, runs
        time.sleep(0.5)
    raise AssertionError("MLflow did not get the two runs")


def test_one_run_a_stage_execution_with_curve_tags_and_absolute_artifacts(finished, tmp_path):
    client, experiment, (run, _) = finished
    assert run.info.run_name == "bold-idea/kvqae-toy"
    assert experiment.artifact_location == (tmp_path / "mlartifacts" / "kvqae").as_uri()
    assert run.data.params == {"kvqae.toy.least": "2"}
    assert run.data.tags["input.in.txt"] == "abc123"
    assert run.data.tags["dvc.experiment"] == "bold-idea"
    assert run.data.metrics["bm25_mrr_at_100"] == 0.25
    assert [point.value for point in client.get_metric_history(run.info.run_id, "loss")] == [3.0, 2.0, 1.0]
    assert "skipped" not in run.data.metrics

    # A stage that was killed closes its pipe without saying how it ended.
    start = {"kind": "start", "time": 0, "pipeline": "kvqae", "name": "killed", "parameters": {}, "tags": {}}
    write_events(iter([json.dumps(start)]), tmp_path)
    (killed,) = client.search_runs([experiment.experiment_id], "attributes.run_name = 'killed'")
    assert killed.info.status == "KILLED"


def test_off_means_off(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "params.yaml").write_text("kvqae:\n  toy: {least: 2}\n")
    (tmp_path / "in.txt").write_text("a\n")
    execute(curve_main, "kvqae.toy", CountParameters, ["--lines", "in.txt"])
    assert not (tmp_path / "mlflow.db").exists()
    Tracker().log(1, loss=1.0)
