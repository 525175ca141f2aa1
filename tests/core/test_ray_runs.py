"""The engine of a cluster beside a stand-in for Ray that works when it is asked for a result, in this process.

What Ray itself does, on machines of their own, is tested in test_ray_engine.py; here are order, losses, and what is kept.
"""

import inspect
import os
import sys
from dataclasses import FrozenInstanceError, replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
import ray
from ray.exceptions import RayTaskError, WorkerCrashedError

from trivium.core import ray_engine
from trivium.core.arithmetic import PORTABLE
from trivium.core.code.digest import versions_of
from trivium.core.engine import WORKER
from trivium.core.errors import BadInput
from trivium.core.matrices import MatrixRows
from trivium.core.ray_engine import LOSSES, RayEngine, _starter
from trivium.core.ray_worker import OTHER_CODE, run_shard


class Reference:
    """Of Ray: to what a task gives, or to an object."""

    def __init__(self, value):
        self.value = value


class StandIn:
    """What the engine asks of Ray.

    Attributes:
        there: the resources of each machine.
        raises: what the next tasks end with.
        backwards: whether the task that was sent last is done first.
        tasks, cancelled, waiting: arguments of tasks; what was cancelled; how many were waited for at a time.
        init, options: what Ray was told.
    """

    def __init__(self):
        self.there = [{"CPU": 2.0}]
        self.raises, self.tasks, self.cancelled, self.waiting = [], [], [], []
        self.init, self.options, self.started, self.backwards = None, {}, True, True

    def remote(self, _):
        def options(**told):
            self.options = told
            return SimpleNamespace(remote=task)

        def task(module, versions, function, parcel, storage):
            self.tasks.append((module, versions, parcel, storage))
            return Reference(lambda: run_shard(module, versions, function.value(), parcel, storage, "node"))

        return SimpleNamespace(options=options)

    def wait(self, references, *, num_returns):
        assert num_returns == 1
        self.waiting.append(len(references))
        references = references[::-1] if self.backwards else references
        return references[:1], references[1:]

    def get(self, reference):
        if self.raises and reference.value.__qualname__.startswith("StandIn.remote"):
            raise self.raises.pop(0)
        return reference.value()

    def start(self, **told):
        self.init = told

    def cancel(self, reference, *, force):
        assert force
        self.cancelled.append(reference)


@pytest.fixture
def cluster(monkeypatch, tmp_path):
    stand_in = StandIn()
    for name in ("remote", "wait", "get", "cancel"):
        monkeypatch.setattr(ray, name, getattr(stand_in, name))
    monkeypatch.setattr(ray, "put", lambda value: Reference(lambda: value))
    monkeypatch.setattr(ray, "is_initialized", lambda: stand_in.started)
    monkeypatch.setattr(ray, "init", stand_in.start)
    lost = {"Alive": False, "Resources": {"CPU": 99.0, "GPU": 9.0}}
    monkeypatch.setattr(ray, "nodes", lambda: [lost, *({"Alive": True, "Resources": each} for each in stand_in.there)])
    monkeypatch.setenv("TRIVIUM_SCRATCH", str(tmp_path / "scratch"))
    return stand_in


@pytest.fixture
def engine(cluster, tmp_path):
    return RayEngine("x:1", None, workers=3, gpu_workers=2, work=tmp_path / "work")


def square(number):
    if number == 99:
        raise ValueError("shard 99 is broken")
    return number * number


def power(number, *, by):
    return number**by


def test_results_come_in_the_order_of_the_shards_whichever_is_done_first(engine, cluster):
    taken = []
    results = engine.map(square, (taken.append(n) or n for n in range(9)), description="squares")
    assert next(results) == 0
    assert taken == [0, 1, 2, 3]  # two for each of two CPUs, also of those that are done and not handed out
    assert list(results) == [n * n for n in range(1, 9)]
    assert max(cluster.waiting) == 4
    assert cluster.options == {"max_retries": 0, "num_cpus": 1, "num_gpus": 0.0}
    assert [task[:2] for task in cluster.tasks] == [(__name__, versions_of(__name__))] * 9


def test_a_partial_function_runs_as_one_of_its_module(engine, cluster):
    assert list(engine.map(partial(partial(power), by=3), [2], description="powers")) == [8]
    assert cluster.tasks[0][0] == __name__


@pytest.mark.parametrize(
    ("there", "on_gpu", "processes", "share", "most"),
    [
        ([], False, None, 0.0, 2),
        ([{"CPU": 3.5}], False, None, 0.0, 6),
        ([{"CPU": 3.0}, {}, {"CPU": 1.0}], False, None, 0.0, 8),
        ([{"CPU": 8.0, "GPU": 1.0}], True, None, 0.5, 4),
        ([{"CPU": 8.0, "GPU": 1.0}], True, 4, 1.0, 2),
        ([{"CPU": 1.0, "GPU": 4.0}], True, None, 0.5, 2),
        ([{"CPU": 1.0, "GPU": 4.0}, {"CPU": 8.0}], True, None, 0.5, 2),
        ([{"CPU": 8.0, "GPU": 1.0}], False, 4, 0.0, 16),
    ],
)
def test_as_many_shards_wait_or_run_as_the_cluster_has_room_for(engine, cluster, there, on_gpu, processes, share, most):
    cluster.there, taken = there, []
    shards = (taken.append(n) or n for n in range(50))
    next(engine.map(square, shards, description="squares", on_gpu=on_gpu, processes=processes))
    assert len(taken) == most
    assert cluster.options["num_gpus"] == share


@pytest.mark.parametrize("there", [[], [{"CPU": 8.0}], [{"CPU": 0.0, "GPU": 1.0}, {"CPU": 8.0}]])
def test_a_gpu_that_no_machine_can_lend_is_not_waited_for(engine, cluster, there):
    cluster.there = there
    assert not engine.has_gpu(lambda: True)
    with pytest.raises(
        BadInput,
        match=r"field 'run\.ray_address': no machine of the Ray cluster has what 'squares' takes; got 'x:1'; "
        r"expected one with 1 CPU and 0\.5 GPU$",
    ):
        next(engine.map(square, [1], description="squares", on_gpu=True))
    assert cluster.tasks == []


def test_three_workers_have_thirds_of_a_gpu_as_ray_counts_them(engine, cluster):
    cluster.there = [{"CPU": 8.0, "GPU": 1.0}]
    next(replace(engine, gpu_workers=3).map(square, [1], description="squares", on_gpu=True))
    assert cluster.options["num_gpus"] == 0.3333


def test_what_nobody_waits_for_is_cancelled(engine, cluster):
    cluster.backwards = False
    results = engine.map(square, range(50), description="squares")
    next(results)
    assert cluster.cancelled == []
    results.close()
    assert len(cluster.cancelled) == 3
    list(engine.map(square, range(3), description="squares"))
    assert len(cluster.cancelled) == 3


def test_what_a_function_raises_comes_in_its_turn(engine):
    results = engine.map(square, [1, 99, 2], description="squares")
    assert next(results) == 1
    with pytest.raises(ValueError, match="shard 99 is broken"):
        next(results)


def of_task(cause):
    return RayTaskError("start", "Traceback", cause)


@pytest.mark.parametrize("error", [WorkerCrashedError(), of_task(WorkerCrashedError())])
def test_a_shard_is_sent_again_until_it_was_lost_three_times(engine, cluster, error):
    cluster.raises = [error] * (LOSSES - 1)
    assert list(engine.map(square, [3], description="squares")) == [9]
    assert len(cluster.tasks) == LOSSES
    cluster.raises = [error] * LOSSES
    with pytest.raises(
        BadInput, match=r"field 'shard 0': lost 3 times with its worker, at last so: .+; got 3$"
    ) as told:
        list(engine.map(square, [3], description="squares"))
    assert "\n" not in str(told.value)
    assert len(cluster.tasks) == 2 * LOSSES


def test_a_worker_that_cannot_run_the_code_is_told_at_once(engine, cluster):
    cluster.raises = [of_task(ModuleNotFoundError("no trivium"))]
    with pytest.raises(
        BadInput, match=r"a worker cannot run tests\.harness\.test_ray_runs\.square to None: .*no trivium"
    ):
        list(engine.map(square, [3], description="squares"))
    assert len(cluster.tasks) == 1


@pytest.mark.parametrize("told", [f"{__name__} theirs", "theirs"])
def test_other_code_names_both(engine, monkeypatch, told):
    monkeypatch.setitem(globals(), "run_shard", lambda *_: (OTHER_CODE, told.encode(), []))
    own = versions_of(__name__)[__name__]
    with pytest.raises(BadInput, match=rf"other code of {__name__}; got 'theirs'; expected {own}, as here"):
        list(engine.map(square, [3], description="squares"))


def test_another_version_of_a_package_names_it_and_both(engine, monkeypatch):
    monkeypatch.setattr("trivium.core.ray_worker.installed_version", {"numpy": "0.1"}.get)
    monkeypatch.setattr(ray_engine, "versions_of", lambda module: {"numpy": "2.5", module: "digest"})
    with pytest.raises(BadInput, match=r"a worker has other code of numpy; got '0\.1'; expected 2\.5, as here"):
        list(engine.map(square, [3], description="squares"))


def test_no_result_is_handed_out_once_the_check_fails(engine):
    looks = []

    def check():
        looks.append(1)
        if len(looks) == 2:
            raise BadInput("code changed")

    results = replace(engine, check=check).map(square, range(9), description="squares")
    assert next(results) == 0
    with pytest.raises(BadInput, match="code changed"):
        next(results)


def write(shard, *, out):
    """Write a file and a folder."""
    (out / shard).mkdir()
    (out / shard / "file").write_text(shard)
    (out / f"{shard}.json").write_text("0")
    return out / shard


@pytest.mark.parametrize("storage", [None, "storage"])
def test_a_stage_started_again_asks_for_what_is_missing(engine, cluster, tmp_path, monkeypatch, storage):
    if storage is None:  # Ray's objects are not there for a message
        monkeypatch.setattr("trivium.core.ray_worker.InObjects", ray_engine.InMessage)
    engine = replace(engine, storage=storage and str(tmp_path / storage))
    out = tmp_path / "out"
    out.mkdir()

    def run():
        cluster.tasks.clear()
        return list(engine.map(partial(write, out=out), "ab", description="write", out=out)), len(cluster.tasks)

    assert run() == ([out / "a", out / "b"], 2)
    assert {path.relative_to(out).as_posix() for path in out.rglob("*")} == {
        "a",
        "a/file",
        "a.json",
        "b",
        "b/file",
        "b.json",
    }
    assert len(list((tmp_path / "work" / "ray").iterdir())) == 2
    assert run() == ([out / "a", out / "b"], 0)
    (out / "b" / "file").unlink()
    assert run() == ([out / "a", out / "b"], 1)
    assert (out / "b" / "file").read_text() == "b"
    assert run()[1] == 0


def add_up(rows, *, out):
    """Write the rows' sum, beside what lies on this machine of the matrix."""
    (out / f"{rows.start}.json").write_text(str([int(rows.read().sum()), len(np.load(rows.path))]))
    return out / f"{rows.start}.json"


def test_a_stage_started_again_asks_for_rows_that_have_changed(engine, cluster, tmp_path):
    engine = replace(engine, storage=str(tmp_path / "storage"))
    out, kb = tmp_path / "out", tmp_path / "kb.npy"
    out.mkdir()

    def run(matrix):
        np.save(kb, matrix)
        cluster.tasks.clear()
        shards = [MatrixRows(kb, start, start + 5) for start in (0, 5)]
        found = engine.map(partial(add_up, out=out), shards, description="add", out=out)
        return [path.read_text() for path in found], len(cluster.tasks)

    assert run(np.arange(10)) == (["[10, 5]", "[35, 5]"], 2)
    assert run(np.arange(10)) == (["[10, 5]", "[35, 5]"], 0)
    assert run(np.minimum(np.arange(10), 8)) == (["[10, 5]", "[34, 5]"], 1)


def test_results_without_files_are_asked_for_anew(engine, cluster, tmp_path):
    for _ in range(2):
        assert list(engine.map(square, [2], description="squares", out=tmp_path)) == [4]
    assert len(cluster.tasks) == 2
    assert list(engine.map(square, [2], description="squares")) == [4]
    assert not (tmp_path / "work" / "ray").exists()


def test_what_was_written_by_other_code_does_not_arrive(engine, tmp_path):
    def check():
        raise BadInput("code changed")

    (tmp_path / "out").mkdir()
    run = partial(write, out=tmp_path / "out")
    with pytest.raises(BadInput, match="code changed"):
        list(
            replace(engine, storage=str(tmp_path / "s"), check=check).map(
                run, "a", description="w", out=tmp_path / "out"
            )
        )
    assert list((tmp_path / "out").iterdir()) == []


def test_what_cannot_be_fetched_is_told_as_it_is(engine, tmp_path, monkeypatch):
    """Nothing has arrived beside the results that would have to go."""

    def refuse(*_):
        raise BadInput("the storage is gone")

    (tmp_path / "out").mkdir()
    monkeypatch.setattr(ray_engine, "fetch", refuse)
    run = partial(write, out=tmp_path / "out")
    with pytest.raises(BadInput, match="the storage is gone"):
        list(engine.map(run, "a", description="write", out=tmp_path / "out"))


def count_words(shard, *, words):
    return len(words.read_text().split()), shard.name


def test_a_file_that_a_function_names_is_sent_once_whatever_its_shards_name(engine, tmp_path, monkeypatch):
    sent, put = [], ray.put
    monkeypatch.setattr(ray, "put", lambda value: sent.append(value) or put(value))
    words = tmp_path / "words.txt"
    words.write_text("two words")
    found = list(engine.map(partial(count_words, words=words), [words, words], description="count"))
    assert found == [(2, "words.txt")] * 2
    assert [value for value in sent if value == b"two words"] == [b"two words"]


def test_a_bar_goes_when_its_work_is_done(engine, capsys):
    list(engine.map(square, range(3), description="squares"))
    shown = capsys.readouterr().err
    assert "squares" in shown
    assert "\n" not in shown


def test_folders_are_merged_and_files_replaced(tmp_path):
    for at in ("new/a/b/1", "new/a/2", "new/3", "old/a/b/4", "old/a/2"):
        (tmp_path / at).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / at).write_text(at)
    (tmp_path / "new" / "c").mkdir()
    ray_engine._merge(tmp_path / "new", tmp_path / "old")
    found = {path.relative_to(tmp_path / "old").as_posix() for path in (tmp_path / "old").rglob("*")}
    assert found == {"a", "a/b", "a/b/1", "a/b/4", "a/2", "c", "3"}
    assert (tmp_path / "old" / "a" / "2").read_text() == "new/a/2"


def test_a_cluster_is_found_or_started_once(engine, cluster, monkeypatch, tmp_path):
    assert not engine.has_gpu(lambda: True)
    assert cluster.init is None
    cluster.started, cluster.there = False, [{"CPU": 1.0, "GPU": 1.0}]
    monkeypatch.setenv(PORTABLE, "intel")
    monkeypatch.setenv("MKL_CBWR", "AVX2")
    monkeypatch.setenv("UNRELATED", "1")
    monkeypatch.delenv("RAY_AUTH_TOKEN", raising=False)
    assert engine.has_gpu(lambda: False)
    told = cluster.init.pop("runtime_env")["env_vars"]
    assert cluster.init == {"address": "x:1", "logging_level": 30}
    assert told[WORKER] == "1"
    assert {PORTABLE, "MKL_CBWR"} <= told.keys()
    assert "UNRELATED" not in told
    assert "TRIVIUM_SCRATCH" not in told
    assert "RAY_AUTH_TOKEN" not in os.environ
    replace(engine, address=None).has_gpu(lambda: False)
    told = cluster.init.pop("runtime_env")["env_vars"]
    assert cluster.init == {"address": "local", "num_cpus": 3, "include_dashboard": False, "logging_level": 30}
    assert told["TRIVIUM_SCRATCH"] == str(tmp_path / "work" / "scratch")
    assert len(os.environ["RAY_AUTH_TOKEN"]) == 64
    assert [os.environ[name] for name in ("RAY_USAGE_STATS_ENABLED", "RAY_ENABLE_UV_RUN_RUNTIME_ENV")] == ["0", "0"]


def test_a_worker_imports_its_own_code_before_the_stages(monkeypatch, tmp_path):
    start, told = _starter(str(tmp_path)), []
    assert start.__code__.co_filename == "<ray_engine>"
    monkeypatch.setattr("trivium.core.ray_worker.run_shard", lambda *all_: told.append(all_))
    monkeypatch.setattr(ray, "get_runtime_context", lambda: SimpleNamespace(get_node_id=lambda: "0123456789abcdef"))
    monkeypatch.setattr("platform.node", lambda: "host")
    paths = [str(tmp_path), *sys.path]
    monkeypatch.setattr(sys, "path", list(paths))
    start("m", {"m": "d"}, ("f", {}), ("s", {}), None)
    assert told == [("m", {"m": "d"}, ("f", {}), ("s", {}), None, "host-0123456789ab")]
    assert sys.path == paths[1:]  # it has code of its own
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    start("m", {"m": "d"}, ("f", {}), ("s", {}), None)
    assert sys.path == [*paths[1:], str(tmp_path)]


def test_the_stand_in_has_rays_names():
    """Or it would hide that Ray has changed."""
    assert {"num_returns"} <= inspect.signature(ray.wait).parameters.keys()
    assert {"force"} <= inspect.signature(ray.cancel).parameters.keys()


def test_an_engine_does_not_change(engine):
    with pytest.raises(FrozenInstanceError):
        engine.workers = 2
