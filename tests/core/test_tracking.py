import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx
import psutil
import pytest
import yaml
from mlflow.exceptions import MlflowException
from mlflow.protos.databricks_pb2 import TEMPORARILY_UNAVAILABLE
from mlflow.tracking import MlflowClient
from mlflow.utils.mlflow_tags import MLFLOW_PARENT_RUN_ID

from tests import tiny_project
from tests.core.test_stage import CountParameters
from tests.core.test_stage import main as count_main
from trivium.core import tracking, tracking_writer
from trivium.core.stage import execute
from trivium.core.tracking import SPOOL, Tracker, locked, writer_lock
from trivium.core.tracking_writer import EXPERIMENT, prepare, write_events


def run(main, root):
    (root / "params.yaml").write_text("run: {mlflow: true, workers: 1}\nkvqae:\n  toy: {least: 2}\n")
    (root / "in.txt").write_text("a\nbb\n")
    return execute(main, "kvqae.toy", CountParameters, ["--lines", "in.txt"])


LEAST = 0.05  # seconds of the stage


def curve_main(parameters, context, *, lines):
    time.sleep(LEAST)
    for step in range(3):
        context.tracker.log(step, loss=3.0 - step, skipped=float("nan"))
    if lines.read_text() == "fail":
        raise RuntimeError
    return {"bm25_mrr@100": 0.25, "loss": 0.5, "step": 7.0, "kind": 1.0}


curve_main.__annotations__ = count_main.__annotations__ | {}


def children(client, experiment):
    """The runs of stages."""
    if experiment is None:
        return []
    runs = client.search_runs([experiment.experiment_id], order_by=["start_time"])
    return [run for run in runs if MLFLOW_PARENT_RUN_ID in run.data.tags]


@pytest.fixture
def finished(tmp_path, monkeypatch):
    """Run a tracked stage twice at once, the database not yet there; give back the finished MLflow runs."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DVC_ROOT", str(tmp_path))
    monkeypatch.setenv("DVC_STAGE", "kvqae-toy")
    monkeypatch.setattr("trivium.core.stage.stage_run_by_dvc", lambda: None)  # there is no dvc.yaml here
    monkeypatch.setenv("DVC_EXP_NAME", "bold-idea")
    (tmp_path / "dvc.lock").write_text("stages:\n  make:\n    outs: [{path: in.txt, md5: abc123}]\n")
    subprocess.run(["git", "init", "-q"], check=True)
    run(curve_main, tmp_path)
    run(curve_main, tmp_path)
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        if (tmp_path / "mlflow.db").exists():
            prepare(tmp_path)
            client = MlflowClient(f"sqlite:///{tmp_path / 'mlflow.db'}")
            experiment = client.get_experiment_by_name(EXPERIMENT)
            runs = children(client, experiment)
            if len(runs) == 2 and all(run.info.status == "FINISHED" for run in runs):
                return client, experiment, runs
        time.sleep(0.5)
    raise AssertionError("MLflow did not get the two runs")


def test_one_run_a_stage_execution_with_curve_tags_and_absolute_artifacts(finished, tmp_path):
    client, experiment, (run, other) = finished
    assert run.info.run_name == "kvqae-toy"
    parent = client.get_run(run.data.tags[MLFLOW_PARENT_RUN_ID])
    assert parent.info.run_name == "bold-idea"
    assert other.data.tags[MLFLOW_PARENT_RUN_ID] == parent.info.run_id
    assert experiment.artifact_location == (tmp_path / "mlartifacts").as_uri()
    assert [each.name for each in client.search_experiments()] == [EXPERIMENT]
    assert run.data.params == {"kvqae.toy.least": "2"}
    assert run.data.tags["input.in.txt"] == "abc123"
    assert run.data.tags["dvc.experiment"] == "bold-idea"
    assert set(run.data.metrics) == {"loss", "seconds"}  # numbers that are no curve stand in metrics/
    assert LEAST <= run.data.metrics["seconds"] < 60
    assert [point.value for point in client.get_metric_history(run.info.run_id, "loss")] == [3.0, 2.0, 1.0]


START = {"kind": "start", "time": 0, "pipeline": "kvqae", "name": "by hand", "parameters": {}, "tags": {}}
POINT = {"kind": "point", "time": 1, "step": 1, "values": {"loss": 0.5}}
END = {"kind": "end", "time": 2, "status": "FINISHED"}


def spool(root, *events, tail="", name="1-1.jsonl"):
    """Events of a stage that holds no lock any more."""
    (root / SPOOL).mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(event) + "\n" for event in events) + tail
    (root / SPOOL / name).write_text(text)
    return root / SPOOL / name


def runs_of(root):
    client = prepare(root)
    return children(client, client.get_experiment_by_name(EXPERIMENT))


def test_a_stage_that_left_without_saying_so_was_killed(tmp_path):
    left = spool(tmp_path, START, POINT, tail='{"kind": "po')
    write_events(tmp_path, linger=0.1)
    (run,) = runs_of(tmp_path)
    assert run.info.status == "KILLED"
    assert run.data.metrics == {"loss": 0.5}
    assert not left.exists()


def test_a_run_that_mlflow_refuses_is_kept_and_stops_no_other(tmp_path, capsys):
    refused = spool(tmp_path, START, POINT | {"values": {"not(a)name": 1.0}}, END, name="1-1.jsonl")
    spool(tmp_path, START | {"name": "good"}, POINT, END, name="2-1.jsonl")
    write_events(tmp_path, linger=0.1)
    assert {run.info.run_name: run.info.status for run in runs_of(tmp_path)} == {
        "good": "FINISHED",
        "by hand": "FAILED",
    }
    assert refused.with_suffix(".refused").read_text().count("\n") == 3
    assert "MLflow refused a run" in capsys.readouterr().err


@pytest.fixture
def unavailable(monkeypatch):
    """Let calls of MLflow's client fail after they did their work: the answer is lost, the worst case."""
    monkeypatch.setattr(tracking_writer, "RETRY", 0.0)
    left = {}

    def let_fail(name, times):
        left[name] = times
        call = getattr(MlflowClient, name)

        def fail(*arguments, **named):
            result = call(*arguments, **named)
            if left[name] and "params" not in named:  # of batches those of points, which must not be there twice
                left[name] -= 1
                raise MlflowException("database is locked", TEMPORARILY_UNAVAILABLE)
            return result

        monkeypatch.setattr(MlflowClient, name, fail)
        return left

    return let_fail


CALLS = ["create_run", "log_batch", "set_terminated"]


def logged_once(root):
    (run,) = runs_of(root)
    assert run.info.status == "FINISHED"
    assert run.data.params == {"least": "2"}
    assert [point.value for point in prepare(root).get_metric_history(run.info.run_id, "loss")] == [0.5]
    return True


@pytest.mark.parametrize("name", CALLS)
def test_what_mlflow_cannot_take_now_it_gets_later_and_once(tmp_path, unavailable, name):
    waiting = spool(tmp_path, START | {"parameters": {"least": "2"}}, POINT, END)
    left = unavailable(name, 1)
    write_events(tmp_path, linger=5)
    assert left == {name: 0}
    assert logged_once(tmp_path)
    assert not waiting.exists()


@pytest.mark.parametrize("name", CALLS)
def test_what_mlflow_could_not_take_waits_for_the_next_writer(tmp_path, unavailable, name, capsys):
    waiting = spool(tmp_path, START | {"parameters": {"least": "2"}}, POINT, END)
    left = unavailable(name, 1_000_000)
    write_events(tmp_path, linger=0.1)
    assert waiting.exists()
    assert capsys.readouterr().err.count("MLflow cannot take a run now") == 1
    left[name] = 0
    write_events(tmp_path, linger=0.1)
    assert logged_once(tmp_path)
    assert not waiting.exists()


def test_only_one_writer_is_at_work(tmp_path):
    left = spool(tmp_path, START, END)
    with writer_lock(tmp_path).open("a") as lock:
        assert locked(lock)
        write_events(tmp_path, linger=0.1)
        assert left.exists(), "a second writer logged beside the first"
    write_events(tmp_path, linger=0.1)
    assert not left.exists()


def test_a_run_goes_on_while_the_stage_holds_its_file(tmp_path):
    (tmp_path / SPOOL).mkdir(parents=True)
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path), json.dumps(START), json.dumps(POINT)], stdout=subprocess.PIPE
    )
    assert holder.stdout.readline() == b"held\n"
    writer = threading.Thread(target=write_events, args=(tmp_path,), kwargs={"linger": 0.1})
    writer.start()
    deadline = time.monotonic() + 60
    while not [run for run in runs_of(tmp_path) if run.data.metrics] and time.monotonic() < deadline:
        time.sleep(0.2)
    assert [(run.info.status, run.data.metrics) for run in runs_of(tmp_path)] == [("RUNNING", {"loss": 0.5})]
    holder.kill()
    holder.wait()
    writer.join(60)
    assert [run.info.status for run in runs_of(tmp_path)] == ["KILLED"]


HOLDER = """
import sys, time
from pathlib import Path
from trivium.core.tracking import SPOOL, _event_file
root, *lines = sys.argv[1:]
with _event_file(Path(root) / SPOOL) as events:
    events.write("".join(line + "\\n" for line in lines))
    events.flush()
    print("held", flush=True)
    time.sleep(300)
"""


LOCK_FILE = """
stages:
  world:
    outs: [{path: data/raw, md5: a.dir}, {path: models/base, md5: b.dir}]
  inner:
    outs: [{path: data/raw/inner, md5: c.dir}]
"""


@pytest.mark.parametrize(
    ("path", "tags"),
    [
        ("data/raw", {"input.data/raw": "a.dir"}),
        ("data/raw/viquae/train.json", {"input.data/raw": "a.dir"}),
        ("data/raw/inner/x", {"input.data/raw/inner": "c.dir"}),
        ("data", {"input.data/raw": "a.dir", "input.data/raw/inner": "c.dir"}),
        ("data/rawer", {}),
    ],
)
def test_an_input_bears_the_hash_of_the_output_around_it_or_of_those_in_it(tmp_path, monkeypatch, path, tags):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dvc.lock").write_text(LOCK_FILE)
    assert tracking._input_hashes([Path(path)]) == tags


# As DVC writes it: dependencies and parameters before the outputs, and lists that look like theirs among them.
WRITTEN = """schema: '2.0'
stages:
  first:
    cmd: python -m first
    deps:
    - path: data/raw
      hash: md5
      md5: not-this
      size: 3
    params:
      params.yaml:
        first.outs:
        - path: data/made
    outs:
    - path: data/made
      hash: md5
      md5: a.dir
      size: 5
      nfiles: 2
    - path: metrics/first.json
      hash: md5
      md5: b
      size: 7
  second:
    cmd: python -m second
    outs:
    - path: data/raw
      hash: md5
      md5: c.dir
"""


def test_only_outputs_are_parsed_and_all_of_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dvc.lock").write_text(WRITTEN)
    found = tracking._input_hashes([Path("data"), Path("metrics/first.json")])
    assert found == {"input.data/made": "a.dir", "input.data/raw": "c.dir", "input.metrics/first.json": "b"}
    parsed = yaml.safe_load(tracking._BEFORE_OUTS.sub("", WRITTEN))["stages"]
    assert [sorted(stage) for stage in parsed.values()] == [["cmd", "outs"]] * 2


@pytest.fixture
def tracked(tmp_path, monkeypatch):
    """Run a tracked stage without a writer; its events come back."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DVC_ROOT", str(tmp_path))
    monkeypatch.setattr(tracking, "_wake_writer", lambda root: None)

    def run_it():
        run(curve_main, tmp_path)
        (file,) = (tmp_path / SPOOL).glob("*.jsonl")
        return [json.loads(line) for line in file.read_text().splitlines()]

    return run_it


@pytest.mark.parametrize("text", ["stages: {a: [", "stages: []", "stages:\n  a:\n    outs: [{md5: a}]", "\0", "5"])
def test_a_lock_file_that_cannot_be_read_costs_the_tags_and_no_more(tmp_path, tracked, text, capsys):
    (tmp_path / "dvc.lock").write_text(text)
    start, *_, end = tracked()
    assert [tag for tag in start["tags"] if tag.startswith("input.")] == []
    assert end["status"] == "FINISHED"
    assert "no hashes of inputs, dvc.lock cannot be read" in capsys.readouterr().err


def test_a_lock_file_that_dvc_rewrites_is_waited_for(tmp_path, monkeypatch):
    from dvc.lock import Lock

    monkeypatch.chdir(tmp_path)
    (tmp_path / ".dvc" / "tmp").mkdir(parents=True)
    lock = Lock(str(tmp_path / ".dvc" / "tmp" / "lock"))
    (tmp_path / "dvc.lock").write_text(LOCK_FILE[:60])
    lock.lock()

    def finish():
        time.sleep(0.5)
        (tmp_path / "dvc.lock").write_text(LOCK_FILE)
        lock.unlock()

    other = threading.Thread(target=finish)
    other.start()
    assert tracking._input_hashes([Path("data/raw")]) == {"input.data/raw": "a.dir"}
    other.join()
    lock.lock()  # the reader has let go of it
    monkeypatch.setattr(tracking, "LOCK_WAIT", 0.1)
    assert tracking._input_hashes([Path("data/raw")]) == {"input.data/raw": "a.dir"}
    lock.unlock()


def test_a_spool_that_cannot_be_written_stops_no_stage(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DVC_ROOT", str(tmp_path / "file"))
    (tmp_path / "file").touch()
    run(curve_main, tmp_path)
    assert "tracking: incomplete: " in capsys.readouterr().err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a disk that is full")
def test_events_that_find_no_room_stop_no_stage(capsys):
    with Path("/dev/full").open("w") as full:
        tracker = Tracker(full)
        tracker.log(1, loss=1.0)
        tracker.log(2, loss=1.0)
    assert capsys.readouterr().err.count("not tracked from here on: ") == 1


def test_off_means_off(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "params.yaml").write_text("kvqae:\n  toy: {least: 2}\n")
    (tmp_path / "in.txt").write_text("a\n")
    execute(curve_main, "kvqae.toy", CountParameters, ["--lines", "in.txt"])
    assert not (tmp_path / SPOOL).exists()
    assert not (tmp_path / "mlflow.db").exists()
    Tracker().log(1, loss=1.0)


def test_the_root_is_the_main_repository_in_an_experiment_whose_folder_vanishes(tmp_path, monkeypatch):
    where = tmp_path / "where.txt"
    script = (
        "import pathlib; from trivium.core.tracking import project_root;"
        f"pathlib.Path({str(where)!r}).write_text(f'{{pathlib.Path.cwd()}}\\n{{project_root()}}')"
    )
    stage = "stages:\n  where:\n    cmd: python where.py\n    params: [seed]\n"
    files = {"dvc.yaml": stage, "params.yaml": "seed: 0\n", "where.py": script + "\n"}
    project = tiny_project.start(tmp_path / "project", files, monkeypatch)
    tiny_project.run("dvc", "exp", "run", "--temp", "-S", "seed=1", folder=project)
    folder, root = map(Path, where.read_text().split("\n"))
    assert root == project
    assert project / ".dvc" / "tmp" in folder.parents
    assert not folder.exists()


@pytest.mark.slow
def test_make_mlflow_is_up_after_ten_seconds_of_work(tmp_path):
    """On an existing database. On a machine that does other things the seconds of the clock would say nothing."""
    spool(tmp_path, START, POINT, END)
    write_events(tmp_path, linger=0.1)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen(
        ["make", "-o", ".venv/bin/.ready", "mlflow", f"PORT={port}"],
        cwd=tiny_project.ROOT,
        env=os.environ | {"MLFLOW_TRACKING_URI": f"sqlite:///{tmp_path / 'mlflow.db'}"},
        start_new_session=True,
    )
    try:
        address, deadline = f"http://127.0.0.1:{port}/health", time.monotonic() + 120
        while not answers(address):
            assert server.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.1)
        times = [each.cpu_times() for each in psutil.Process(server.pid).children(recursive=True)]
        assert 0 < sum(each.user + each.system for each in times) <= 10
    finally:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()


def answers(address):
    try:
        return httpx.get(address).status_code == 200
    except httpx.TransportError:
        return False


def test_events_bear_the_time_of_now_and_the_log_lies_in_the_spool(tmp_path):
    before = time.time()
    with (tmp_path / "events").open("w+") as events:
        Tracker(events).log(1, loss=1.0)
        events.seek(0)
        assert before - 1 <= json.loads(events.read())["time"] / 1000 <= time.time()
    assert tracking.writer_log(tmp_path) == tmp_path / SPOOL / "writer.log"


@pytest.mark.parametrize(("told", "baseline"), [("abc", "abc"), (None, "head")])
def test_a_run_bears_the_commit_that_an_experiment_began_from_else_this_one(tmp_path, monkeypatch, told, baseline):
    """An experiment has a commit of its own, which nobody compares with."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tracking, "_git", lambda command, *_: "head" if command == "rev-parse" else "")
    monkeypatch.delenv("DVC_EXP_BASELINE_REV", raising=False)
    if told:
        monkeypatch.setenv("DVC_EXP_BASELINE_REV", told)
    tags = tracking._start("kvqae.toy", {}, [])["tags"]
    assert (tags["git.baseline"], tags["git.dirty"]) == (baseline, "False")


def test_each_stage_has_a_file_of_its_own_in_the_spool(tmp_path):
    for text in ("one", "two"):
        with tracking._event_file(tmp_path / SPOOL) as events:
            events.write(text)
    files = list((tmp_path / SPOOL).iterdir())
    assert sorted(file.read_text() for file in files) == ["one", "two"]
    assert {file.suffix for file in files} == {".jsonl"}


def test_a_stage_starts_a_writer_that_outlives_it_unless_one_is_at_work(tmp_path, monkeypatch):
    started = []
    monkeypatch.setattr(tracking.subprocess, "Popen", lambda command, **told: started.append((command, told)))
    (tmp_path / SPOOL).mkdir(parents=True)
    with writer_lock(tmp_path).open("a") as lock:
        assert locked(lock)
        tracking._wake_writer(tmp_path)
        assert started == []
    tracking._wake_writer(tmp_path)
    ((command, told),) = started
    assert command == [sys.executable, "-m", "trivium.core.tracking_writer"]
    assert told["start_new_session"]
    assert told["cwd"] == tmp_path
    assert told["env"]["PYTHONPATH"].split(os.pathsep)[0] == str(tiny_project.ROOT)
