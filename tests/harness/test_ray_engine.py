"""The engine of a Ray cluster: raylets of this machine that share nothing with the driver but its address.

Each raylet has a copy of the code and a folder of its own. A hook in every process that it starts writes down what that
process opens: none may be of the driver's tree, neither its code nor its data.
"""

import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import ray
from ray.cluster_utils import Cluster

from trivium.errors import BadInput
from trivium.harness.engine import WORKER, Engine, LocalEngine, in_worker
from trivium.harness.ray_engine import RayEngine

ROOT = Path(__file__).parents[2]
CODE = ("trivium", "stages", "sample", "tests", "uv.lock")
HOOK = """
import os, sys
_file = open(os.path.join(os.environ["OPENED"], f"{os.getpid()}.txt"), "a", buffering=1)
def _hook(event, arguments):
    if event in ("open", "os.listdir", "os.scandir") and isinstance(arguments[0], (str, bytes)):
        _file.write(os.path.abspath(os.fsdecode(arguments[0])) + chr(10))
sys.addaudithook(_hook)
"""


@dataclass
class Machine:
    """A raylet.

    Attributes:
        folder: holds its code, its scratch and what it has opened.
        node: Ray's handle.
    """

    folder: Path
    node: object

    def opened(self) -> set[Path]:
        return {Path(line) for file in (self.folder / "opened").iterdir() for line in file.read_text().splitlines()}


@dataclass
class Machines:
    """A cluster; the driver's raylet has no CPU."""

    folder: Path
    cluster: Cluster
    all: list[Machine] = field(default_factory=list)

    def add(self, change: Callable[[Path], None] = lambda _: None, **resources: float) -> Machine:
        folder = self.folder / f"machine{len(self.all)}"
        for name in ("opened", "scratch", "code"):
            (folder / name).mkdir(parents=True)
        for name in CODE:
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
            copy(ROOT / name, folder / "code" / name, **({"ignore": shutil.ignore_patterns("__pycache__")} if copy is shutil.copytree else {}))
        (folder / "code" / "sitecustomize.py").write_text(HOOK)
        change(folder / "code")
        environment = {
            "PYTHONPATH": str(folder / "code"), "PYTHONDONTWRITEBYTECODE": "1", "OPENED": str(folder / "opened"),
            "TRIVIUM_SCRATCH": str(folder / "scratch"),
        }  # fmt: skip
        here = Path.cwd()
        os.chdir(folder)
        try:
            node = self.cluster.add_node(num_cpus=1, object_store_memory=100_000_000, env_vars=environment, **resources)
        finally:
            os.chdir(here)
        self.all.append(Machine(folder, node))
        return self.all[-1]

    def lose(self, machine: Machine) -> None:
        self.cluster.remove_node(machine.node, allow_graceful=False)


@pytest.fixture(scope="module")
def machines(tmp_path_factory) -> Iterator[Machines]:
    """Two raylets, and this process connected to them from an empty folder."""
    folder = tmp_path_factory.mktemp("machines")
    before = Path.cwd(), dict(os.environ)
    (folder / "driver").mkdir()
    os.chdir(folder / "driver")
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    cluster = Cluster(
        initialize_head=True,
        head_node_args={"num_cpus": 0, "object_store_memory": 100_000_000, "include_dashboard": False},
    )
    found = Machines(folder, cluster)
    try:
        found.add()
        found.add()
        yield found
    finally:
        ray.shutdown()
        cluster.shutdown()
        os.chdir(before[0])
        os.environ.clear()
        os.environ.update(before[1])


@pytest.fixture
def engine(machines, tmp_path) -> RayEngine:
    return RayEngine(machines.cluster.address, None, workers=1, gpu_workers=2, work=tmp_path / "work")


def told(shard: int) -> tuple[int, bool, str, str]:
    return shard * shard, in_worker(), __file__, os.getcwd()


def test_results_come_in_order_from_workers_that_run_code_of_their_own(engine, machines):
    found = list(engine.map(told, range(7), description="squares"))
    assert [square for square, *_ in found] == [n * n for n in range(7)]
    assert all(worker for _, worker, *_ in found)
    folders = {machine.folder for machine in machines.all}
    for _, _, file, place in found:
        assert any(Path(file).is_relative_to(folder / "code") for folder in folders)
        assert any(Path(place).is_relative_to(folder / "scratch") for folder in folders)
