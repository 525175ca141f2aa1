"""The engine of a Ray cluster, on machines that share no disk: order, files, losses, other code, GPUs, storage."""

import ctypes
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

import pytest

from tests.core.ray_machines import ROOT, Machines, serve
from trivium.core.engine import in_worker
from trivium.core.errors import BadInput
from trivium.core.ray_engine import LOSSES, RayEngine

pytestmark = pytest.mark.timeout(600)  # a cluster starts in ten seconds to a minute


@pytest.fixture(scope="module")
def machines(tmp_path_factory) -> Iterator[Machines]:
    with serve(tmp_path_factory.mktemp("machines"), 2) as found:
        yield found


@pytest.fixture
def engine(machines, tmp_path) -> RayEngine:
    return RayEngine(machines.cluster.address, None, workers=1, gpu_workers=2, work=tmp_path / "work")


def tell(shard: int) -> tuple[int, bool, str, str]:
    return shard * shard, in_worker(), __file__, str(Path.cwd())


def test_results_come_in_order_from_workers_that_run_code_of_their_own(engine, machines):
    found = list(engine.map(tell, iter(range(7)), description="squares"))
    assert [square for square, *_ in found] == [n * n for n in range(7)]
    assert all(worker for _, worker, *_ in found)
    for _, _, file, place in found:
        assert any(Path(file).is_relative_to(machine.folder / "code") for machine in machines.all)
        assert any(Path(place).is_relative_to(machine.folder / "scratch") for machine in machines.all)


def test_no_more_shards_are_taken_than_wait_or_run(engine):
    taken = []
    results = engine.map(tell, (taken.append(n) or n for n in range(50)), description="squares")
    next(results)
    assert len(taken) <= 6  # two for each worker, once more after those whose results have come
    results.close()


class Action(ctypes.Structure):
    """Linux's `struct sigaction`."""

    _fields_ = (
        ("handler", ctypes.c_void_p),
        ("mask", ctypes.c_ulong * 16),
        ("flags", ctypes.c_int),
        ("restorer", ctypes.c_void_p),
    )


def segfault_handler() -> str:
    """The library that answers SIGSEGV in this process, by its file's name; empty: the kernel does."""
    action = Action()
    assert ctypes.CDLL(None).sigaction(signal.SIGSEGV, None, ctypes.byref(action)) == 0
    for line in Path("/proc/self/maps").read_text().splitlines():
        start, end = (int(part, 16) for part in line.split()[0].split("-"))
        if start <= (action.handler or 0) < end:
            return line.split()[-1].rpartition("/")[2]
    return ""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_java_in_the_process_of_the_tests_finds_null_pointers_beside_ray(engine):
    before = segfault_handler()  # Java compiles a check for null into an access that faults, and must see the fault
    list(engine.map(tell, [1], description="squares"))
    assert segfault_handler() == before != "_raylet.so"


@dataclass(frozen=True)
class Shard:
    name: str
    text: Path


def join(shard: Shard, *, folder: Path, work: Path) -> tuple[Path, str, bool]:
    """Read a file and a folder, write a file and a folder, and fail where this was done before."""
    made = work / shard.name
    made.mkdir(parents=True)
    (made / "empty").mkdir()
    joined = shard.text.read_text() + "".join(file.read_text() for file in sorted(folder.rglob("*.txt")))
    (made / "joined.txt").write_text(joined)
    (work / f"{shard.name}.json").write_text("0")
    return made, str(shard.text), (folder / "none").is_dir()


@pytest.fixture
def inputs(tmp_path) -> tuple[partial[tuple[Path, str, bool]], list[Shard]]:
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


@pytest.mark.parametrize("storage", [None, "shared", "s3"])
def test_what_is_named_travels_and_what_is_written_comes_back(engine, machines, inputs, tmp_path, storage):
    function, shards = inputs
    address = {"shared": str(machines.folder / "shared"), "s3": "s3://bucket/trivium"}.get(storage or "")
    engine = replace(engine, storage=address)
    found = list(engine.map(function, shards, description="join", out=tmp_path / "work"))
    assert [made for made, *_ in found] == [tmp_path / "work" / shard.name for shard in shards]
    for number, (made, read, has_empty) in enumerate(found):
        assert (made / "joined.txt").read_text() == f"{number}: ba"
        assert (made / "empty").is_dir()
        assert has_empty
        assert any(Path(read).is_relative_to(machine.folder / "scratch") for machine in machines.all)
    names = {path.name for path in (tmp_path / "work").iterdir()}
    assert names == {"ray", *(f"shard-{n}" for n in range(4)), *(f"shard-{n}.json" for n in range(4))}
    assert machines.opened_of(tmp_path) == []
    if storage == "shared":
        assert list(machines.folder.joinpath("shared").iterdir())


def test_a_stage_started_again_asks_only_for_what_is_missing(engine, inputs, tmp_path):
    function, shards = inputs
    first = list(engine.map(function, shards, description="join", out=tmp_path / "work"))
    (tmp_path / "work" / "shard-2" / "joined.txt").unlink()
    written = (tmp_path / "work" / "shard-1" / "joined.txt").stat().st_ino
    again = list(engine.map(function, shards, description="join", out=tmp_path / "work"))
    assert [made for made, *_ in again] == [made for made, *_ in first]
    assert (tmp_path / "work" / "shard-2" / "joined.txt").read_text() == "2: ba"
    assert (tmp_path / "work" / "shard-1" / "joined.txt").stat().st_ino == written


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
    assert "in refuse" in raised.value.__notes__[0]
    refused = [machine.folder / "opened" / "refused.txt" for machine in machines.all]
    assert sum(file.read_text().count("refused") for file in refused if file.exists()) == 1


def test_no_result_is_handed_out_once_the_check_fails(engine):
    calls = []

    def check():
        calls.append(1)
        if len(calls) == 3:
            raise ValueError("code changed")

    results = replace(engine, check=check).map(tell, range(9), description="squares")
    assert [next(results)[0], next(results)[0]] == [0, 1]
    with pytest.raises(ValueError, match="code changed"):
        next(results)


def end(shard: int) -> int:
    if shard == 2:
        with (Path(os.environ["OPENED"]) / "lost.txt").open("a") as file:
            file.write("/lost\n")
        os.kill(os.getpid(), signal.SIGKILL)
    return shard


def test_a_shard_that_is_lost_three_times_is_an_error_that_names_it(engine, machines):
    results = engine.map(end, range(4), description="end")
    assert [next(results), next(results)] == [0, 1]
    with pytest.raises(BadInput, match=r"field 'shard 2': lost 3 times with its worker.*; got 2$"):
        next(results)
    lost = [machine.folder / "opened" / "lost.txt" for machine in machines.all]
    assert sum(file.read_text().count("lost") for file in lost if file.exists()) == LOSSES


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
    return os.environ.get("CUDA_VISIBLE_DEVICES"), __file__


def test_functions_for_a_gpu_go_where_one_is_and_other_code_is_an_error_that_names_both(engine, machines):
    assert not engine.has_gpu(lambda: True)
    with pytest.raises(BadInput, match=r"no machine of the Ray cluster has what 'gpu' takes.* 1 CPU and 0\.5 GPU$"):
        next(engine.map(visible, range(4), description="gpu", on_gpu=True))
    fourth = machines.add(num_gpus=1)
    assert engine.has_gpu(lambda: False)
    found = list(engine.map(visible, range(4), description="gpu", on_gpu=True))
    assert {device for device, _ in found} == {"0"}
    assert {Path(file) for _, file in found} == {fourth.folder / "code" / "tests" / "harness" / "test_ray_engine.py"}
    machines.lose(fourth)

    def change(code: Path) -> None:
        with (code / "tests" / "harness" / "test_ray_engine.py").open("a") as file:
            file.write("\nVALUE = 1\n")

    machines.add(change, num_gpus=1)
    with pytest.raises(
        BadInput,
        match=r"a worker has other code of tests\.harness\.test_ray_engine; got '\w{16}'; expected \w{16}, as here",
    ):
        list(engine.map(visible, range(2), description="gpu", on_gpu=True))


STAGE = """
import json, sys
from pathlib import Path
from tests.core.test_engine import square
from trivium.core.parameters import Parameters
from trivium.core.stage import execute
def main(parameters, context):
    engine = type(context.engine).__name__
    squares = list(context.engine.map(square, [2, 3], description="squares")) if parameters.go else []
    print(json.dumps([engine, squares, "ray" in sys.modules]))
class Go(Parameters):
    go: bool
main.__module__ = "trivium.core.stage"
execute(main, "test", Go, ["--params", sys.argv[1]])
"""


def run_stage(folder: Path, engine: str, *, go: bool) -> list[object]:
    run = {"engine": engine, "workers": 1}
    (folder / "params.yaml").write_text(json.dumps({"test": {"go": go}, "run": run}))
    told = subprocess.run(
        [sys.executable, "-c", STAGE, "params.yaml"], cwd=folder, capture_output=True, text=True, check=True,
        env=os.environ | {"PYTHONPATH": str(ROOT), "HOME": str(folder)},
    )  # fmt: skip
    found: list[object] = json.loads(told.stdout)
    return found


@pytest.mark.parametrize("engine", ["local", "ray"])
def test_ray_is_imported_only_when_it_is_asked_for(tmp_path, engine):
    assert run_stage(tmp_path, engine, go=False) == [f"{engine.capitalize()}Engine", [], engine == "ray"]


def test_a_cluster_of_this_machine_alone_leaves_nothing_in_the_home_folder(tmp_path):
    assert run_stage(tmp_path, "ray", go=True) == ["RayEngine", [4, 9], True]
    assert {path.name for path in tmp_path.iterdir()} == {"params.yaml", ".work"}


def test_a_cluster_that_is_not_there(tmp_path, monkeypatch):
    monkeypatch.setattr("trivium.core.ray_engine.ray.is_initialized", lambda: False)

    def refuse(**_: object) -> None:
        raise ConnectionError("nobody answers")

    monkeypatch.setattr("trivium.core.ray_engine.ray.init", refuse)
    with pytest.raises(BadInput, match=r"field 'run\.ray_address': no Ray cluster there: nobody answers; got 'x:1'"):
        list(RayEngine("x:1", None, 1, 1, tmp_path).map(tell, [1], description="squares"))
