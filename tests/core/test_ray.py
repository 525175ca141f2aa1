"""The engine of a Ray cluster, on machines that share no disk: order, files, losses, GPUs, storage."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from ray.cloudpickle import register_pickle_by_value

from tests.core.ray_machines import ROOT, Machines, serve
from trivium.core import ray_engine
from trivium.core.engine import in_worker
from trivium.core.errors import BadInput
from trivium.core.matrices import MatrixRows, write_matrix
from trivium.core.ray_engine import ATTEMPTS, RayEngine, dumps, loads, run_shard

pytestmark = pytest.mark.timeout(600)  # a cluster starts in ten seconds to a minute
register_pickle_by_value(sys.modules[__name__])  # workers have no tests


@pytest.fixture(scope="module")
def machines(tmp_path_factory) -> Iterator[Machines]:
    with serve(tmp_path_factory.mktemp("machines"), 2) as served:
        yield served


@pytest.fixture
def engine(machines, tmp_path) -> RayEngine:
    return RayEngine(machines.cluster.address, machines.storage, workers=1, gpu_workers=2, work=tmp_path / "work")


def tell(shard: int) -> tuple[int, bool, str, str]:
    return shard * shard, in_worker(), ray_engine.__file__, str(Path.cwd())


def test_results_come_in_order_from_workers_to_which_ray_brought_the_code(engine, machines):
    taken = []
    results = engine.map(tell, (taken.append(n) or n for n in range(9)), description="squares")
    first = next(results)
    assert len(taken) == 4  # two for each worker
    told = [first, *results]
    assert [square for square, *_ in told] == [n * n for n in range(9)]
    assert all(worker for _, worker, *_ in told)
    for _, _, file, place in told:
        assert not Path(file).is_relative_to(ROOT)
        assert any(Path(place).is_relative_to(machine.folder / "scratch") for machine in machines.all)


@dataclass(frozen=True)
class Shard:
    name: str
    text: Path


def join(shard: Shard, *, folder: Path, work: Path) -> tuple[Path, Path, Path, bool]:
    """Read a file and a folder, write a file and a folder, and fail where this was done before."""
    made = work / shard.name
    made.mkdir(parents=True)
    (made / "empty").mkdir()
    joined = shard.text.read_text() + "".join(file.read_text() for file in sorted(folder.rglob("*.txt")))
    (made / "joined.txt").write_text(joined)
    (work / f"{shard.name}.json").write_text("0")
    return made, shard.text, Path("/nowhere"), (folder / "none").is_dir()


@pytest.fixture
def inputs(tmp_path) -> tuple[partial[tuple[Path, Path, Path, bool]], list[Shard]]:
    (tmp_path / "folder" / "inside").mkdir(parents=True)
    (tmp_path / "folder" / "none").mkdir()
    (tmp_path / "folder" / "inside" / "a.txt").write_text("a")
    (tmp_path / "folder" / "b.txt").write_text("b")
    (tmp_path / "work").mkdir()
    shards = []
    for number in range(4):
        (tmp_path / f"{number}.txt").write_text(f"{number}: ")
        shards.append(Shard(f"shard-{number}", tmp_path / f"{number}.txt"))
    return partial(join, folder=tmp_path / "folder", work=tmp_path / "work"), shards


@pytest.mark.parametrize("storage", ["folder", "s3"])
def test_what_is_named_travels_and_what_is_written_comes_back(engine, machines, inputs, tmp_path, storage):
    function, shards = inputs
    engine = replace(engine, storage="s3://bucket/trivium") if storage == "s3" else engine
    results = list(engine.map(function, shards, description="join", out=tmp_path / "work"))
    work = tmp_path / "work"
    assert results == [(work / shard.name, shard.text, Path("/nowhere"), True) for shard in shards]
    for number, (made, *_) in enumerate(results):
        assert (made / "joined.txt").read_text() == f"{number}: ba"
        assert (made / "empty").is_dir()
    names = {path.name for path in work.iterdir()}
    assert names == {"ray", *(f"shard-{n}" for n in range(4)), *(f"shard-{n}.json" for n in range(4))}
    assert machines.opened_of(tmp_path) == []
    left = [place.name for machine in machines.all for place in machine.folder.glob("scratch/*/*")]
    assert set(left) == {"content"}  # what shards name goes with them


def test_a_stage_started_again_asks_only_for_what_is_missing(engine, inputs, tmp_path):
    function, shards = inputs
    first = list(engine.map(function, shards, description="join", out=tmp_path / "work"))
    (tmp_path / "work" / "shard-2" / "joined.txt").unlink()
    written = (tmp_path / "work" / "shard-1" / "joined.txt").stat().st_ino
    assert list(engine.map(function, shards, description="join", out=tmp_path / "work")) == first
    assert (tmp_path / "work" / "shard-2" / "joined.txt").read_text() == "2: ba"
    assert (tmp_path / "work" / "shard-1" / "joined.txt").stat().st_ino == written


def test_a_cluster_of_others_needs_a_storage_for_files_alone(engine, inputs):
    function, shards = inputs
    engine = replace(engine, storage=None)
    assert next(engine.map(tell, [3], description="squares"))[0] == 9
    with pytest.raises(
        BadInput, match=r"run\.ray_storage.*: files cannot travel; got None; expected a folder that all"
    ):
        next(engine.map(function, shards, description="join"))


def refuse(shard: Path) -> None:
    if shard.name == "1.txt":
        with (Path(os.environ["OPENED"]) / "refused.txt").open("a") as file:
            file.write("/refused\n")
        raise BadInput("not like this", file=shard, row=3)


def test_what_a_function_raises_is_raised_here_once_and_names_the_file_of_here(engine, machines, inputs):
    _, shards = inputs
    results = engine.map(refuse, [shard.text for shard in shards], description="refuse")
    assert next(results) is None
    with pytest.raises(BadInput) as raised:
        next(results)
    assert str(raised.value) == f"{shards[1].text}:3: not like this"
    assert "in refuse" in str(raised.value.__cause__)
    refused = [machine.folder / "opened" / "refused.txt" for machine in machines.all]
    assert sum(file.read_text().count("refused") for file in refused if file.exists()) == 1


def end(shard: int) -> int:
    if shard == 2:
        with (Path(os.environ["OPENED"]) / "lost.txt").open("a") as file:
            file.write("/lost\n")
        os.kill(os.getpid(), signal.SIGKILL)
    return shard


def test_a_shard_that_is_lost_with_each_worker_is_an_error(engine, machines):
    results = engine.map(end, range(4), description="end")
    assert [next(results), next(results)] == [0, 1]
    with pytest.raises(BadInput, match=r"a shard was lost 3 times with its worker"):
        next(results)
    lost = [machine.folder / "opened" / "lost.txt" for machine in machines.all]
    assert sum(file.read_text().count("lost") for file in lost if file.exists()) == ATTEMPTS


def wait(shard: int) -> int:
    (Path(os.environ["OPENED"]) / "waiting.txt").touch()
    time.sleep(1)
    return shard + 1


def test_the_shards_of_a_lost_machine_run_again(engine, machines):
    third = machines.add()

    def lose():
        while not (third.folder / "opened" / "waiting.txt").exists():
            time.sleep(0.05)
        machines.lose(third)

    thread = threading.Thread(target=lose)
    thread.start()
    assert list(engine.map(wait, range(12), description="wait")) == list(range(1, 13))
    thread.join()


def visible(shard: int) -> tuple[str | None, str]:
    return os.environ.get("CUDA_VISIBLE_DEVICES"), os.environ["TRIVIUM_SCRATCH"]


def test_functions_for_a_gpu_go_where_one_is(engine, machines):
    assert not engine.has_gpu(lambda: True)
    with pytest.raises(BadInput, match=r"no machine of the Ray cluster has what 'gpu' takes.* 1 CPU and 0\.5 GPU$"):
        next(engine.map(visible, range(4), description="gpu", on_gpu=True))
    fourth = machines.add(num_gpus=1)
    assert engine.has_gpu(lambda: False)
    told = set(engine.map(visible, range(4), description="gpu", on_gpu=True))
    assert told == {("0", str(fourth.folder / "scratch"))}
    machines.lose(fourth)


def test_another_version_of_a_package_names_it_and_both(tmp_path, monkeypatch):
    monkeypatch.setattr(ray_engine, "installed_version", lambda name: "1.0")
    with pytest.raises(
        BadInput, match=r"a worker has another numpy; got '1\.0'; expected 2\.0, as where the stage runs"
    ):
        run_shard(b"", b"", "", {"numpy": "2.0"})


@pytest.mark.parametrize(("start", "stop"), [(3, 6), (0, 4), (9, 10), (0, 10), (5, 5)])
def test_of_a_matrix_only_the_rows_that_are_asked_for_travel_as_an_array(tmp_path, start, stop):
    with write_matrix(tmp_path / "kb.npy", 10, 3) as matrix:
        matrix[:] = np.arange(30).reshape(10, 3)
    pickled = dumps(MatrixRows(tmp_path / "kb.npy", start, stop), lambda path: pytest.fail("the file is named"))
    (tmp_path / "kb.npy").unlink()
    rows = loads(pickled, lambda place: pytest.fail("the file is named"))
    assert (rows.start, rows.stop) == (start, stop)
    np.testing.assert_array_equal(rows.read(), np.arange(30).reshape(10, 3)[start:stop])


STAGE = """
import json, sys
from pathlib import Path
from trivium.core.parameters import Parameters
from trivium.core.stage import execute
from tests.core.test_engine import square
from ray.cloudpickle import register_pickle_by_value
def main(parameters, context):
    engine = type(context.engine).__name__
    if parameters.go:
        register_pickle_by_value(sys.modules["tests.core.test_engine"])
    squares = list(context.engine.map(square, [2, 3], description="squares")) if parameters.go else []
    print(json.dumps([engine, squares]))
class Go(Parameters):
    go: bool
main.__module__ = "trivium.core.stage"
execute(main, "test", Go, ["--params", sys.argv[1]])
"""


def test_a_cluster_of_this_machine_alone_leaves_nothing_in_the_home_folder(tmp_path):
    (tmp_path / "params.yaml").write_text(json.dumps({"test": {"go": True}, "run": {"engine": "ray", "workers": 1}}))
    told = subprocess.run(
        [sys.executable, "-c", STAGE, "params.yaml"], cwd=tmp_path, capture_output=True, text=True, check=True,
        env=os.environ | {"PYTHONPATH": str(ROOT), "HOME": str(tmp_path)},
    )  # fmt: skip
    assert json.loads(told.stdout) == ["RayEngine", [4, 9]]
    assert {path.name for path in tmp_path.iterdir()} == {"params.yaml", ".work"}


def test_a_cluster_that_is_not_there(tmp_path, monkeypatch):
    monkeypatch.setattr("trivium.core.ray_engine.ray.is_initialized", lambda: False)

    def decline(**_: object) -> None:
        raise ConnectionError("nobody answers")

    monkeypatch.setattr("trivium.core.ray_engine.ray.init", decline)
    with pytest.raises(BadInput, match=r"field 'run\.ray_address': no Ray cluster there: nobody answers; got 'x:1'"):
        list(RayEngine("x:1", None, 1, 1, tmp_path).map(tell, [1], description="squares"))
