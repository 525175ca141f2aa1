"""In MLflow a `dvc repro`, or an experiment, is one run, which says what differs and what came of it."""

from pathlib import Path

import pytest
from mlflow.tracking import MlflowClient
from mlflow.utils.mlflow_tags import MLFLOW_PARENT_RUN_ID

from tests.tiny_project import commit, run, start
from trivium.core.tracking import locked, writer_lock
from trivium.core.tracking_writer import EXPERIMENT, tracking_uri, write_events
from trivium.page.headline import NUMBERS

READ = {number.key: name for name, number in NUMBERS.items() if number.file == "kvqae/read.json"}
READ_ONE = min(READ.values())
STAGE = f"""
import json, pathlib, yaml
from trivium.core.tracking import track
weight = yaml.safe_load(open("params.yaml"))["fuse"]["weight"]
with track("kvqae.fuse", {{"weight": weight}}, [], enabled=True) as tracker:
    for step in range(3):
        tracker.log(step, loss=weight / (step + 1))
    tracker.final({{"em": weight / 10}}, seconds=1.0)
    if weight > 8:
        raise SystemExit("too heavy")
pathlib.Path("metrics/kvqae").mkdir(exist_ok=True)
pathlib.Path("metrics/kvqae/read.json").write_text(json.dumps(dict.fromkeys({sorted(READ)}, weight / 10)))
pathlib.Path("metrics/grid.csv").write_text(f"k,mrr\\n1,{{weight}}\\n2,0\\n")
"""
PAGE = "import yaml; open('metrics/report/index.html', 'w').write(open('params.yaml').read())"
FILES = {
    "params.yaml": "fuse: {weight: 1, depth: 100}\nother: {seed: 0}\n",
    "metrics/report/.gitignore": "",
    ".gitignore": "/mlflow.db*\n/mlartifacts/\n/.work/\n",
    "stage.py": STAGE,
    "page.py": PAGE,
    "dvc.yaml": """
stages:
  kvqae-fuse:
    cmd: python stage.py
    params: [fuse.weight]
    outs: [metrics/grid.csv]
    metrics: [metrics/kvqae/read.json: {cache: false}]
  report:
    cmd: python page.py
    deps: [metrics/kvqae/read.json]
    outs: [metrics/report/index.html]
plots:
- metrics/grid.csv: {x: k, y: mrr}
""",
}


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project with a built commit, in which no writer wakes by itself."""
    folder = start(tmp_path, FILES, monkeypatch)
    (folder / ".work" / "tracking").mkdir(parents=True)
    with writer_lock(folder).open("a") as lock:
        assert locked(lock)
        run("dvc", "repro", folder=folder)
        commit(folder)
        yield folder


def log(folder):
    """Let a writer log what waits, as it does once no stage is at work; (parents by name, children by parent)."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("trivium.core.tracking_writer.locked", lambda lock: True)
        write_events(folder, linger=0.1)
    client = MlflowClient(tracking_uri(folder))
    runs = client.search_runs([client.get_experiment_by_name(EXPERIMENT).experiment_id])
    parents = {each.info.run_name: each for each in runs if MLFLOW_PARENT_RUN_ID not in each.data.tags}
    assert len(parents) == len([each for each in runs if MLFLOW_PARENT_RUN_ID not in each.data.tags])
    children = {
        name: [each for each in runs if each.data.tags.get(MLFLOW_PARENT_RUN_ID) == parent.info.run_id]
        for name, parent in parents.items()
    }
    return client, parents, children


def test_two_variants_are_compared(project):
    """One run in the tree, one in a folder of DVC's that vanishes."""
    run("dvc", "exp", "run", "-n", "light", "-S", "fuse.weight=2", folder=project)
    run("git", "checkout", "-q", ".", folder=project)
    run("dvc", "exp", "run", "--temp", "-n", "heavy", "-S", "fuse.weight=4", "-S", "other.seed=1", folder=project)
    client, parents, children = log(project)
    assert set(parents) == {"repro", "light", "heavy"}
    assert {name: each.data.params for name, each in parents.items() if name != "repro"} == {
        "light": {"fuse.weight": "2"},
        "heavy": {"fuse.weight": "4", "other.seed": "1"},
    }
    for name, weight in (("light", 2), ("heavy", 4)):
        assert parents[name].data.metrics == dict.fromkeys(READ.values(), weight / 10)
        assert parents[name].info.status == "FINISHED"
        (child,) = children[name]
        assert child.info.run_name == "kvqae-fuse"
        history = client.get_metric_history(child.info.run_id, "loss")
        assert [point.value for point in history] == [weight, weight / 2, weight / 3]
        kept = Path(client.download_artifacts(parents[name].info.run_id, ""))
        assert f"weight: {weight}" in (kept / "page" / "index.html").read_text()
        assert f'"mrr": "{weight}"' in (kept / "figures" / "index.html").read_text()
    best = client.search_runs(
        [parents["light"].info.experiment_id], "params.`fuse.weight` != ''", order_by=[f"metrics.{READ_ONE} DESC"]
    )
    assert [each.info.run_name for each in best] == ["heavy", "light"]


def test_a_run_whose_stage_failed_has_failed(project):
    log(project)
    run("dvc", "exp", "run", "-n", "broken", "-S", "fuse.weight=9", folder=project, fails=True)
    _, parents, children = log(project)
    assert parents["broken"].info.status == "FAILED"
    assert [each.info.status for each in children["broken"]] == ["FAILED"]
    assert parents["broken"].data.metrics == {}


def test_what_is_left_of_a_writer_that_was_killed_is_gone_on_with(project, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr("trivium.core.tracking_writer._Parents.close", interrupted)
        with pytest.raises(KeyboardInterrupt):
            log(project)
    _, parents, children = log(project)
    assert parents["repro"].info.status == "FINISHED"
    assert len(children["repro"]) == 1


def interrupted(parents):
    raise KeyboardInterrupt


def test_no_experiment_is_empty_and_nothing_is_told_to_others(project):
    client, _, _ = log(project)
    assert [each.name for each in client.search_experiments()] == [EXPERIMENT]
    said = run(
        "python", "-c", "import trivium.core.tracking_writer\nfrom mlflow.telemetry.utils import is_telemetry_disabled\n"
        "print(is_telemetry_disabled())", folder=project,
    )  # fmt: skip
    assert said.strip() == "True"
