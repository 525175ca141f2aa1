"""MLflow's writer beside a client that notes what it is told: one process, no database, no waiting.

What MLflow itself makes of it is tested in test_tracking.py.
"""

import fcntl
import json
import runpy
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from mlflow.exceptions import MlflowException
from mlflow.protos.databricks_pb2 import INVALID_PARAMETER_VALUE, TEMPORARILY_UNAVAILABLE
from mlflow.utils.mlflow_tags import MLFLOW_PARENT_RUN_ID

from trivium.core import tracking_writer
from trivium.core.tracking import SPOOL, locked, writer_lock, writer_log
from trivium.core.tracking_writer import EVENTS, EXPERIMENT, PROJECT, prepare, tracking_uri, write_events


class Client:
    """Notes runs by number: their tags, parameters, points, status. Tells of those whose tags a filter asks for."""

    def __init__(self):
        self.experiment, self.runs, self.batches, self.deleted, self.artifacts = None, {}, [], [], {}
        self.fails = {}  # by the name of a call: errors that its next calls raise

    def _called(self, name):
        if self.fails.get(name):
            raise self.fails[name].pop(0)

    def get_experiment_by_name(self, name):
        assert name == EXPERIMENT
        return self.experiment

    def create_experiment(self, name, location):
        self.experiment = SimpleNamespace(experiment_id="7", name=name, location=location)
        return "7"

    def create_run(self, experiment, start, tags, name):
        self._called("create_run")
        number = str(len(self.runs))
        info = SimpleNamespace(run_id=number, start_time=start, status="RUNNING", name=name, end=None)
        self.runs[number] = SimpleNamespace(info=info, data=SimpleNamespace(tags=tags), params={}, points=[])
        return self.runs[number]

    def search_runs(self, experiments, wanted):
        assert experiments == ["7"]
        tag, value = wanted.split("`")[1], wanted.split("'")[1]
        found = [run for run in self.runs.values() if run.data.tags.get(tag) == value]
        return [run for run in found if run.info.status == "RUNNING"] if "RUNNING" in wanted else found

    def get_run(self, number):
        return self.runs[number]

    def log_batch(self, number, metrics=(), params=()):
        self._called("log_batch")
        self.batches.append((number, len(metrics), len(params)))
        self.runs[number].points += [(one.key, one.value, one.timestamp, one.step) for one in metrics]
        self.runs[number].params |= {one.key: one.value for one in params}

    def set_terminated(self, number, status, end=None):
        self._called("set_terminated")
        self.runs[number].info.status, self.runs[number].info.end = status, end

    def log_artifacts(self, number, folder):
        self.artifacts[number] = sorted(path.name for path in Path(folder).iterdir())

    def search_experiments(self):
        return [SimpleNamespace(experiment_id="0")]

    def delete_experiment(self, number):
        self.deleted.append(number)


SUMMARY = """
import json, sys
from pathlib import Path
options = dict(zip(sys.argv[1::2], sys.argv[2::2]))
out = Path(options["--out"])
(out / "files").mkdir()
(out / "files" / "page.html").touch()
values = {"parameters": {f"p{n}": n for n in range(120)}, "metrics": {"mrr@10": 0.5}}
(out / "run.json").write_text(json.dumps(values))
Path("told.json").write_text(json.dumps(options))
print("half of it")
sys.exit(int(Path("fails").exists()))
"""


@pytest.fixture
def client(tmp_path, monkeypatch):
    noted = Client()
    monkeypatch.setattr(tracking_writer, "MlflowClient", lambda uri: noted)
    monkeypatch.setattr(tracking_writer, "POLL", 0.01)
    monkeypatch.setattr(tracking_writer, "RETRY", 0.0)
    monkeypatch.setattr(tracking_writer._Parents, "_log_summary", lambda *_: None)
    return noted


TAGS = {"dvc.experiment": "bold", "git.baseline": "abc"}
START = {"kind": "start", "time": 5, "name": "bold/fuse", "parameters": {"least": "2"}, "tags": TAGS}
END = {"kind": "end", "time": 9, "status": "FINISHED"}


def point(step, **values):
    return {"kind": "point", "time": 6, "step": step, "values": values}


def spool(root, *events, name="1-1.jsonl", tail=""):
    (root / SPOOL).mkdir(parents=True, exist_ok=True)
    (root / SPOOL / name).write_text("".join(json.dumps(event) + "\n" for event in events) + tail)
    return root / SPOOL / name


def write(root, linger=0.02):
    write_events(root, linger=linger)


def test_a_stage_is_a_child_of_its_run_with_its_curve(client, tmp_path):
    left = spool(tmp_path, START, point(1, **{"mrr@10": 0.5}), point(2, loss=1.0, **{"final/mrr": 3.0}), END)
    write(tmp_path)
    parent, child = client.runs.values()
    assert (parent.info.name, parent.info.start_time, parent.info.status) == ("bold", 5, "FINISHED")
    assert (child.info.name, child.info.start_time, child.info.status) == ("fuse", 5, "FINISHED")
    assert parent.data.tags.keys() == {"dvc.experiment", "git.baseline", PROJECT}
    assert len(parent.data.tags[PROJECT]) == 16
    assert child.data.tags == TAGS | {EVENTS: "1-1.jsonl", MLFLOW_PARENT_RUN_ID: "0"}
    assert child.params == {"least": "2"}
    assert child.points == [("mrr_at_10", 0.5, 6, 1), ("loss", 1.0, 6, 2)]
    assert abs(parent.info.end / 1000 - time.time()) < 60
    assert client.experiment.location == (tmp_path / "mlartifacts").as_uri()
    assert not left.exists()


def test_stages_of_one_run_share_a_parent_and_others_have_theirs(client, tmp_path):
    plain = {"dvc.experiment": "", "git.baseline": "abc"}
    for number, tags in enumerate((TAGS, TAGS, plain, TAGS | {"git.baseline": "def"})):
        spool(tmp_path, START | {"tags": tags}, END, name=f"{number}-1.jsonl")
    write(tmp_path)
    parents = [run.info.name for run in client.runs.values() if PROJECT in run.data.tags]
    assert parents == ["bold", "repro", "bold"]
    assert len(client.runs) == 7


@pytest.mark.parametrize(
    ("statuses", "parent"), [(["FAILED", "FINISHED"], "FINISHED"), (["FINISHED", "FAILED"], "FAILED")]
)
def test_a_run_has_failed_unless_a_stage_that_failed_ran_again(client, tmp_path, statuses, parent):
    for number, status in enumerate(statuses):
        spool(tmp_path, START, END | {"status": status}, name=f"{number}-1.jsonl")
    write(tmp_path)
    assert [run.info.status for run in client.runs.values()] == [parent, *statuses]


def test_a_long_curve_goes_in_thousands_and_long_values_are_cut(client, tmp_path):
    points = [point(step, loss=float(step)) for step in range(2001)]
    spool(tmp_path, START | {"parameters": {"long": "x" * 7000}}, *points, END)
    write(tmp_path)
    assert client.batches == [("1", 0, 1), ("1", 1000, 0), ("1", 1000, 0), ("1", 1, 0)]
    assert [at for _, at, _, _ in client.runs["1"].points] == [float(step) for step in range(2001)]
    assert client.runs["1"].params == {"long": "x" * 6000}


def test_a_stage_that_says_no_end_was_killed_and_half_a_line_is_none(client, tmp_path):
    spool(tmp_path, START, point(1, loss=1.0), tail='{"kind": "po')
    write(tmp_path)
    assert [run.info.status for run in client.runs.values()] == ["FAILED", "KILLED"]
    assert len(client.runs["1"].points) == 1


def test_a_file_without_a_start_makes_no_run(client, tmp_path):
    left = spool(tmp_path, tail='{"kind"')
    write(tmp_path)
    assert client.runs == {}
    assert not left.exists()


def error(code):
    return MlflowException("no", code)


def test_what_is_refused_is_set_aside_and_its_run_fails(client, tmp_path, capsys):
    left = spool(tmp_path, START, point(1, loss=1.0), END)
    client.fails["log_batch"] = [error(INVALID_PARAMETER_VALUE)]
    write(tmp_path)
    assert [run.info.status for run in client.runs.values()] == ["FAILED", "FAILED"]
    assert left.with_suffix(".refused").exists()
    assert not left.exists()
    assert capsys.readouterr().err.count("MLflow refused a run, its events are kept in") == 1


@pytest.mark.parametrize("call", ["create_run", "log_batch", "set_terminated"])
def test_what_cannot_be_taken_now_is_taken_later_and_told_once(client, tmp_path, capsys, call):
    spool(tmp_path, START, point(1, loss=1.0), END)
    client.fails[call] = [error(TEMPORARILY_UNAVAILABLE)] * 3
    write(tmp_path, linger=0.5)
    assert client.runs["1"].points == [("loss", 1.0, 6, 1)]
    assert [run.info.status for run in client.runs.values()] == ["FINISHED"] * 2
    assert capsys.readouterr().err.count("MLflow cannot take a run now") == 1


def test_what_cannot_be_taken_is_left_and_tried_no_sooner_than_it_should(client, tmp_path, monkeypatch):
    monkeypatch.setattr(tracking_writer, "RETRY", 1000.0)
    left = spool(tmp_path, START, END)
    client.fails["create_run"] = [error(TEMPORARILY_UNAVAILABLE)] * 2
    write(tmp_path)
    assert left.exists()
    assert len(client.fails["create_run"]) == 1


def test_a_writer_goes_on_with_what_another_began(client, tmp_path):
    spool(tmp_path, START, END)
    client.fails["set_terminated"] = [error(TEMPORARILY_UNAVAILABLE)] * 1000
    write(tmp_path)
    assert [run.info.status for run in client.runs.values()] == ["RUNNING"] * 2
    client.fails.clear()
    spool(tmp_path, START | {"name": "bold/read"}, END, name="2-1.jsonl")
    write(tmp_path)
    assert [(run.info.name, run.info.status) for run in client.runs.values()] == [
        ("bold", "FINISHED"),
        ("fuse", "FINISHED"),
        ("read", "FINISHED"),
    ]


def test_runs_whose_making_was_not_answered_are_gone_on_with(client, tmp_path, monkeypatch):
    create, lost = client.create_run, []

    def lose(*told):
        lost.append(create(*told))
        raise error(TEMPORARILY_UNAVAILABLE)

    monkeypatch.setattr(client, "create_run", lose)
    spool(tmp_path, START, END)
    write(tmp_path, linger=0.5)
    assert len(lost) == 2
    assert [(run.info.name, run.info.status) for run in client.runs.values()] == [
        ("bold", "FINISHED"),
        ("fuse", "FINISHED"),
    ]


def test_a_stage_at_work_is_followed_until_it_lets_go(client, tmp_path, monkeypatch):
    file = spool(tmp_path, START)
    looks = []

    def look(follower):
        looks.append(len(client.runs["1"].points) if "1" in client.runs else None)
        if len(looks) == 3:
            file.open("a").write(json.dumps(point(1, loss=1.0)) + "\n")
        return len(looks) > 5

    monkeypatch.setattr(tracking_writer._Follower, "_stage_is_gone", look)
    write(tmp_path)
    assert looks == [None, 0, 0, 1, 1, 1]
    assert client.runs["1"].info.status == "KILLED"


def test_a_locked_file_is_of_a_stage_at_work(client, tmp_path, monkeypatch):
    follower = tracking_writer._Follower(spool(tmp_path, START), client, None)
    assert follower._stage_is_gone()

    def refuse(file, kind):
        assert kind == fcntl.LOCK_SH | fcntl.LOCK_NB
        raise BlockingIOError

    monkeypatch.setattr(tracking_writer.fcntl, "lockf", refuse)
    assert not follower._stage_is_gone()


def test_a_second_writer_does_nothing(client, tmp_path):
    left = spool(tmp_path, START, END)
    with writer_lock(tmp_path).open("a") as lock:
        assert locked(lock)
        write(tmp_path)
        assert left.exists()
    write(tmp_path)
    assert not left.exists()


def test_a_stage_that_comes_after_the_last_look_is_not_left(client, tmp_path, monkeypatch):
    follow, came = tracking_writer._follow_all, []

    def late(folder, root, linger):
        left = follow(folder, root, linger)
        if not came:
            came.append(spool(tmp_path, START, END, name="2-1.jsonl"))
        return left

    monkeypatch.setattr(tracking_writer, "_follow_all", late)
    spool(tmp_path, START, END)
    write(tmp_path)
    assert not came[0].exists()


def test_a_writer_waits_a_while_for_the_next_stage(client, tmp_path):
    spool(tmp_path, START, END)
    before = time.monotonic()
    write(tmp_path, linger=0.3)
    assert 0.3 <= time.monotonic() - before < 30


def test_mlflows_own_experiment_goes_from_a_new_database_alone(client, tmp_path):
    prepare(tmp_path)
    assert client.deleted == []  # a database elsewhere: it is not this project's

    class New(Client):
        def search_experiments(self):
            (tmp_path / "mlflow.db").touch()
            return super().search_experiments()

    client.search_experiments = New.search_experiments.__get__(made := New())
    prepare(tmp_path)
    assert client.deleted == ["0"]
    prepare(tmp_path)
    assert client.deleted == ["0"]
    assert made.deleted == []


def test_the_database_lies_at_the_root_unless_another_is_named(monkeypatch, tmp_path):
    assert tracking_uri(tmp_path) == f"sqlite:///{tmp_path}/mlflow.db"
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://there")
    assert tracking_uri(tmp_path) == "http://there"


@pytest.fixture
def parents(tmp_path, monkeypatch):
    """The runs of a project whose summary is made by a script of the test."""
    noted = Client()
    (tmp_path / "summary_of_a_test.py").write_text(SUMMARY)
    monkeypatch.setattr(tracking_writer, "SUMMARY", "summary_of_a_test")
    found = tracking_writer._Parents(noted, tmp_path)
    found.of(START | {"time": 5000})
    return found, noted


def test_a_run_gets_what_it_was(parents, tmp_path):
    found, noted = parents
    found.ended(START, "FINISHED")
    found.close()
    told = json.loads((tmp_path / "told.json").read_text())
    assert (told["--name"], told["--baseline"], told["--since"]) == ("bold", "abc", "5.0")
    assert noted.artifacts == {"0": ["page.html"]}
    assert noted.batches == [("0", 1, 0), ("0", 0, 100), ("0", 0, 20)]
    assert noted.runs["0"].params == {f"p{n}": str(n) for n in range(120)}
    ((key, value, at, step),) = noted.runs["0"].points
    assert (key, value, step) == ("mrr_at_10", 0.5, 0)
    assert abs(at / 1000 - time.time()) < 60
    assert noted.runs["0"].info.status == "FINISHED"


def test_a_summary_that_fails_is_told_and_ends_the_run_all_the_same(parents, tmp_path, capsys):
    found, noted = parents
    (tmp_path / "fails").touch()
    found.close()
    assert "what bold was is not all logged: half of it" in capsys.readouterr().err
    assert noted.runs["0"].info.status == "FINISHED"
    assert noted.artifacts == {"0": ["page.html"]}


def test_a_summary_that_mlflow_does_not_take_ends_the_run_all_the_same(parents, capsys):
    found, noted = parents
    noted.fails["log_batch"] = [error(INVALID_PARAMETER_VALUE)]
    found.close()
    assert "MLflow does not take what bold was: " in capsys.readouterr().err
    assert noted.runs["0"].info.status == "FINISHED"


def test_the_command_prepares_the_database_and_tells_what_was_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("mlflow.tracking.MlflowClient", lambda uri: Client())
    monkeypatch.setattr("trivium.core.redaction.redact_output", lambda: None)
    monkeypatch.setenv("DVC_ROOT", str(tmp_path))
    monkeypatch.setattr(sys, "argv", ["tracking_writer", "--prepare"])
    spool(tmp_path, START, name="1-1.refused")
    runpy.run_path(tracking_writer.__file__, run_name="__main__")
    assert (tmp_path / "mlflow.db.lock").exists()
    assert capsys.readouterr().err == f"1 runs were refused by MLflow, see {writer_log(tmp_path)}\n"
