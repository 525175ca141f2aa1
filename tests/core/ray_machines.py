"""A Ray cluster of this machine whose raylets share nothing with the driver but its address and a storage.

Each raylet has a folder of its own. A hook in every process that it starts writes down what that process opens: none of
it may be the driver's, neither code nor data.
"""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import chdir, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

import ray
from fsspec import get_filesystem_class
from moto.server import ThreadedMotoServer
from ray.cluster_utils import Cluster

ROOT = Path(__file__).parents[2]
MEMORY = 100_000_000
BEFORE = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_worker_niceness": "0"}
KEYS = {"AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "s", "AWS_DEFAULT_REGION": "us-east-1"}
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
        folder: holds its scratch and what its processes have opened.
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
    environment: Mapping[str, str]
    all: list[Machine] = field(default_factory=list)

    @property
    def storage(self) -> str:
        return str(self.folder / "storage")

    def add(self, **resources: float) -> Machine:
        """One machine more, with one CPU."""
        folder = self.folder / f"machine{len(self.all)}"
        for name in ("opened", "scratch", "hook"):
            (folder / name).mkdir(parents=True)
        (folder / "hook" / "sitecustomize.py").write_text(HOOK)
        own = {"PYTHONPATH": "hook", "OPENED": "opened", "TRIVIUM_SCRATCH": "scratch"}
        environment = {name: str(folder / value) for name, value in own.items()} | {**self.environment}
        with chdir(folder):
            node = self.cluster.add_node(num_cpus=1, object_store_memory=MEMORY, env_vars=environment, **resources)
        self.all.append(Machine(folder, node))
        return self.all[-1]

    def lose(self, machine: Machine) -> None:
        """As when it is switched off."""
        self.cluster.remove_node(machine.node, allow_graceful=False)

    def opened_of(self, *folders: Path) -> list[Path]:
        """What the machines have opened of the driver's tree, or of other folders."""
        theirs = [*folders, ROOT, self.folder / "driver"]
        shared = [Path(sys.prefix), ROOT / ".venv"]  # installed packages
        opened = {path for machine in self.all for path in machine.opened()}
        assert any(path.name == "ray_engine.py" for path in opened)
        return sorted(
            path
            for path in opened - {ROOT}  # Python lists the folder that .venv's trivium.pth names, and opens none in it
            if path.exists()  # torch looks for CUDA's libraries below each folder that Python searches
            and any(path.is_relative_to(folder) for folder in theirs)
            and not any(path.is_relative_to(folder) for folder in shared)
        )


@contextmanager
def s3() -> Iterator[dict[str, str]]:
    """An S3 on loopback; gives the environment of whoever reaches it."""
    server = ThreadedMotoServer(port=0, verbose=False)
    server.start()
    try:
        yield KEYS | {"AWS_ENDPOINT_URL": "http://{}:{}".format(*server.get_host_and_port())}
    finally:
        get_filesystem_class("s3").clear_instance_cache()  # the next one has another port
        server.stop()


@contextmanager
def serve(folder: Path, machines: int) -> Iterator[Machines]:
    """So many machines, and an S3; this process's folder is an empty one, and it is in no cluster afterwards."""
    (folder / "driver").mkdir()
    with chdir(folder / "driver"), s3() as environment, mock.patch.dict(os.environ, BEFORE | environment):
        cluster = Cluster(
            initialize_head=True,
            head_node_args={"num_cpus": 0, "object_store_memory": MEMORY, "include_dashboard": False},
        )
        served = Machines(folder, cluster, environment)
        try:
            for _ in range(machines):
                served.add()
            yield served
        finally:
            ray.shutdown()
            cluster.shutdown()
