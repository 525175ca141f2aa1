"""A Ray cluster of this machine whose raylets share nothing with the driver but its address.

Each raylet has a copy of the code and a folder of its own. A hook in every process that it starts writes down what that
process opens: none of it may be the driver's, neither code nor data.
"""

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import chdir, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

import ray
from fsspec import get_filesystem_class
from moto.server import ThreadedMotoServer
from ray.cluster_utils import Cluster

ROOT = Path(__file__).parents[2]
CODE = ("trivium", "stages", "sample", "tests")
STORE = 100_000_000
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
        folder: holds its code, its scratch and what its processes have opened.
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

    def add(self, change: Callable[[Path], None] = lambda _: None, **resources: float) -> Machine:
        """One machine more, with one CPU, and code that `change` may change."""
        folder = self.folder / f"machine{len(self.all)}"
        for name in ("opened", "scratch", "code"):
            (folder / name).mkdir(parents=True)
        for name in CODE:
            shutil.copytree(ROOT / name, folder / "code" / name, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "uv.lock", folder / "code")
        (folder / "code" / "sitecustomize.py").write_text(HOOK)
        change(folder / "code")
        own = {"PYTHONPATH": "code", "OPENED": "opened", "TRIVIUM_SCRATCH": "scratch"}
        environment = {name: str(folder / value) for name, value in own.items()} | {**self.environment}
        with chdir(folder):
            node = self.cluster.add_node(num_cpus=1, object_store_memory=STORE, env_vars=environment, **resources)
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
        assert any(path.name == "ray_worker.py" for path in opened)
        return sorted(
            path
            for path in opened
            if any(path.is_relative_to(folder) for folder in theirs)
            and path != self.folder / "driver"  # where Ray itself lets workers look for modules
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
            head_node_args={"num_cpus": 0, "object_store_memory": STORE, "include_dashboard": False},
        )
        found = Machines(folder, cluster, environment)
        try:
            for _ in range(machines):
                found.add()
            yield found
        finally:
            ray.shutdown()
            cluster.shutdown()
