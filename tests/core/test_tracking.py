import json
import shutil
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest
from mlflow import MlflowClient

from tests.tiny_project import commit, run, start
from trivium.core.curves import Curves
from trivium.core.parameters import Parameters
from trivium.core.stage import execute
from trivium.core.tracking import EXPERIMENT, Tracker, connect

PARENT = "mlflow.parentRunId"


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    """MLflow's tables without a run: it is long in making them."""
    folder = tmp_path_factory.mktemp("mlflow")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DVC_ROOT", str(folder))
        patch.delenv("MLFLOW_TRACKING_URI", raising=False)
        with connect():
            return folder / "mlflow.db"


@pytest.fixture
def place(folder, database):
    """The same folder with tables."""
    shutil.copy(database, folder)
    return folder


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a commit, where no DVC runs."""
    return start(tmp_path, {"params.yaml": "run: {mlflow: true}\nkvqae: {toy: {}}\n"}, monkeypatch)


def client_of(folder):
    return MlflowClient(f"sqlite:///{folder / 'mlflow.db'}")


def runs_of(folder):
    """(parents by name, their children by the same name)."""
    client = client_of(folder)
    runs = client.search_runs([client.get_experiment_by_name(EXPERIMENT).experiment_id])
    parents = {run.info.run_name: run for run in runs if PARENT not in run.data.tags}
    assert len(parents) == len([run for run in runs if PARENT not in run.data.tags])
    children = {
        name: [run for run in runs if run.data.tags.get(PARENT) == parent.info.run_id]
        for name, parent in parents.items()
    }
    return parents, children


def history(folder, run, name):
    return [(point.step, point.value) for point in client_of(folder).get_metric_history(run.info.run_id, name)]


def train(stage, work="work", *, stops=False):
    with Tracker(Curves(Path(f"{stage}.jsonl")), stage, work, **{"toy.rate": 0.5}) as tracker:
        for step in range(3):
            tracker.log(step, **{"mrr@10": step / 2, "loss": float("nan")})
            if stops:
                raise RuntimeError


def test_trainings_that_begin_at_once_are_children_of_one_run_in_a_new_database(folder):
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        list(pool.map(train, ["one", "two"]))
    parents, children = runs_of(folder)
    assert set(parents) == {"repro"}
    assert parents["repro"].info.status == "RUNNING"
    assert parents["repro"].data.tags.items() >= {"git.baseline": head(folder), "git.dirty": "False"}.items()
    assert {child.info.run_name for child in children["repro"]} == {"one", "two"}
    for child in children["repro"]:
        assert child.info.status == "FINISHED"
        assert child.data.params == {"toy.rate": "0.5"}
        assert set(child.data.metrics) == {"mrr_at_10"}
        assert history(folder, child, "mrr_at_10") == [(0, 0.0), (1, 0.5), (2, 1.0)]
    (experiment,) = client_of(folder).search_experiments()
    assert experiment.name == EXPERIMENT
    assert experiment.artifact_location == (folder / "mlartifacts").as_uri()


def head(folder):
    return run("git", "rev-parse", "HEAD", folder=folder).strip()


def test_points_come_while_a_training_goes_on(place, monkeypatch):
    monkeypatch.setattr("trivium.core.tracking.INTERVAL", 0.0)
    with Tracker(None, "one") as tracker:
        tracker.log(1, loss=2.0)
        _, children = runs_of(place)
        assert history(place, children["repro"][0], "loss") == [(1, 2.0)]
        tracker.log(2, loss=1.0)
        assert history(place, children["repro"][0], "loss") == [(1, 2.0), (2, 1.0)]


def test_a_training_that_failed_and_goes_on_is_the_same_run_unless_its_inputs_are_others(place):
    with pytest.raises(RuntimeError):
        train("one", stops=True)
    assert [child.info.status for child in runs_of(place)[1]["repro"]] == ["FAILED"]
    train("one")
    assert [child.info.status for child in runs_of(place)[1]["repro"]] == ["FINISHED"]
    train("one", "other")
    assert len(runs_of(place)[1]["repro"]) == 2


def test_without_a_training_or_where_it_is_off_nothing_imports_mlflow(folder):
    script = (
        "import sys; from trivium.core.tracking import Tracker\n"
        "with Tracker(None, 'one'): pass\n"
        "with Tracker() as off: off.log(1, loss=1.0)\n"
        "print('mlflow' in sys.modules)"
    )
    assert run(sys.executable, "-c", script, folder=folder) == "False\n"
    assert not (folder / "mlflow.db").exists()


def main(parameters: Parameters, context) -> dict[str, float]:
    context.tracker.log(1, loss=1.0)
    return {}


@pytest.mark.parametrize("wanted", [True, False])
def test_a_stage_is_tracked_where_that_is_wanted(place, wanted):
    Path("params.yaml").write_text(f"run: {{mlflow: {str(wanted).lower()}}}\nkvqae: {{toy: {{}}}}\n")
    execute(main, "kvqae.toy", Parameters, [])
    assert (client_of(place).get_experiment_by_name(EXPERIMENT) is not None) == wanted


def test_a_failure_is_told_once_and_stops_nothing(folder, monkeypatch, capsys):
    monkeypatch.setattr("trivium.core.tracking.INTERVAL", 0.0)
    (folder / "mlflow.db").write_text("no database " * 100)
    train("one")
    assert capsys.readouterr().err.count("tracking: not tracked from here on: ") == 1
    assert [json.loads(line)[0] for line in Path("one.jsonl").read_text().splitlines() if line] == [0, 1, 2]


STAGE = """
import pathlib, yaml, json
from trivium.core.tracking import Tracker
weight = yaml.safe_load(open("params.yaml"))["fuse"]["weight"]
with Tracker(None, "kvqae-fuse") as tracker:
    for step in range(3):
        tracker.log(step, loss=weight / (step + 1))
    if weight > 8:
        raise SystemExit("too heavy")
pathlib.Path("metrics/headline.json").write_text(json.dumps({"mrr@1": weight / 10}))
pathlib.Path("metrics/grid.csv").write_text(f"k,mrr\\n1,{weight}\\n2,0\\n")
"""
FILES = {
    "params.yaml": "run: {mlflow: true}\nfuse: {weight: 1, depth: 100}\nother: {seed: 0}\n",
    "metrics/report/.gitignore": "",
    ".gitignore": "/mlflow.db*\n/mlartifacts/\n",
    "stage.py": STAGE,
    "page.py": "import yaml; open('metrics/report/index.html', 'w').write(open('params.yaml').read())",
    "dvc.yaml": """
stages:
  kvqae-fuse:
    cmd: python stage.py
    params: [fuse.weight]
    outs: [metrics/grid.csv]
    metrics: [metrics/headline.json: {cache: false}]
  report:
    cmd: python page.py
    deps: [metrics/headline.json]
    outs: [metrics/report/index.html]
  track:
    cmd: python -m stages.track
    deps: [metrics, params.yaml]
plots:
- metrics/grid.csv: {x: k, y: mrr}
""",
}


def test_what_a_run_was_is_logged_when_the_graph_ends(tmp_path, monkeypatch, database):
    """In the tree, in experiments there and in folders that vanish, and where a stage fails."""
    folder = start(tmp_path, FILES, monkeypatch)
    shutil.copy(database, folder)
    run("dvc", "repro", folder=folder)
    commit(folder)
    assert "is not all logged" not in run("dvc", "exp", "run", "-n", "light", "-S", "fuse.weight=2", folder=folder)
    run("git", "checkout", "-q", ".", folder=folder)
    run("dvc", "exp", "run", "--temp", "-n", "broken", "-S", "fuse.weight=9", folder=folder, fails=True)
    run("dvc", "exp", "run", "--queue", "-n", "queued", "-S", "fuse.weight=5", "-S", "other.seed=1", folder=folder)
    run("dvc", "exp", "run", "--run-all", folder=folder)
    parents, children = runs_of(folder)
    assert {name: parent.data.params for name, parent in parents.items() if name not in ("repro", "broken")} == {
        "light": {"fuse.weight": "2"},
        "queued": {"fuse.weight": "5", "other.seed": "1"},
    }
    for name, weight in (("repro", 1), ("light", 2), ("queued", 5)):
        parent = parents[name]
        assert parent.info.status == "FINISHED"
        assert parent.data.metrics == {"mrr_at_1": weight / 10}
        (child,) = children[name]
        assert (child.info.run_name, child.info.status) == ("kvqae-fuse", "FINISHED")
        assert history(folder, child, "loss") == [(0, weight), (1, weight / 2), (2, weight / 3)]
        kept = Path(client_of(folder).download_artifacts(parent.info.run_id, ""))
        assert f"weight: {weight}" in (kept / "page" / "index.html").read_text()
        assert f'"mrr": "{weight}"' in (kept / "figures" / "index.html").read_text()
    assert parents["broken"].info.status == "FAILED"
    assert [child.info.status for child in children["broken"]] == ["FAILED"]
    run("dvc", "repro", folder=folder)  # nothing has changed: nothing is logged
    assert len(runs_of(folder)[1]["repro"]) == 1


def test_a_run_that_cannot_be_logged_fails_no_stage_and_a_child_that_was_killed_is_ended(place, monkeypatch):
    Tracker(None, "one").log(1, loss=1.0)  # and no end
    run(sys.executable, "-m", "stages.track", folder=place)
    parents, children = runs_of(place)
    assert [child.info.status for child in children["repro"]] == ["KILLED"]
    assert parents["repro"].info.status == "FINISHED"
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "nosuchdb://there")
    assert "tracking: this run is not all logged: " in run(sys.executable, "-m", "stages.track", folder=place)
