"""An engine whose workers are Ray's: processes of this machine, or of a cluster that shares no disk (docs/cluster.md).

Ray brings the code to the workers (`working_dir`), hands out functions and shards, and runs again what is lost with its
worker. Each `Path` in a function or shard is replaced: one that is there goes as content, a file or a whole folder,
through a storage that all machines reach; one in the folder for results as a place in it; any other stays a text, as
does a path that is passed as a `str`. Rows of a matrix go as an array.
"""

import hashlib
import io
import logging
import os
import pickle
import shutil
import tarfile
import tempfile
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from secrets import token_hex
from typing import Any, TypeVar

import numpy as np
import ray
from fsspec.core import url_to_fs
from ray.cloudpickle import CloudPickler
from ray.exceptions import RayError, RayTaskError
from tqdm import tqdm

from trivium.core.arithmetic import PORTABLE, SETTINGS
from trivium.core.atomic import write_atomically
from trivium.core.code.digest import OWN, code_root, installed_version, parts_of
from trivium.core.engine import WORKER
from trivium.core.errors import BadInput, naming, redact_output
from trivium.core.matrices import MatrixRows

T = TypeVar("T")
R = TypeVar("R")
ATTEMPTS = 3  # at a shard whose worker is lost
SCRATCH = "TRIVIUM_SCRATCH"  # where a worker has its files; else the system's folder for temporary files
Place = tuple[str, ...]  # ("content", digest, path there), ("out", path inside), or ("text", path)


@dataclass(frozen=True)
class RayEngine:
    """Workers of a Ray cluster, each with one CPU."""

    address: str | None  # of the cluster; None: one on this machine, for this process alone
    storage: str | None  # folder or address of fsspec through which files travel; None: a folder of this machine
    workers: int  # CPUs of a cluster on this machine
    gpu_workers: int  # functions that take a GPU have one of so many equal parts of it
    work: Path  # the stage's folder, where results are kept that a stage started again need not ask for anew

    def has_gpu(self, probe: Callable[[], bool]) -> bool:
        """Whether a machine of the cluster has a GPU now, and a CPU for it."""
        self._connect()
        return _room(1.0) > 0

    def map(
        self,
        function: Callable[[T], R],
        shards: Iterable[T],
        *,
        description: str,
        on_gpu: bool = False,
        processes: int | None = None,
        out: Path | None = None,
    ) -> Iterator[R]:
        """Apply `function` to each shard, somewhere; at most two shards a worker wait or run.

        Raises:
            BadInput: no machine has a GPU where `function` takes one; files have no storage; a shard was lost.
        """
        part = 1.0 if processes else 10_000 // self.gpu_workers / 10_000  # Ray counts ten-thousandths
        share = part if on_gpu else 0.0
        self._connect()
        if share and not _room(share):  # Ray would wait for such a machine for ever
            problem = f"no machine of the Ray cluster has what {description!r} takes"
            expected = f"one with 1 CPU and {share:g} GPU"
            raise BadInput(problem, field="run.ray_address", got=self.address, expected=expected)
        run = _Run(self, function, share, out)
        try:
            for shard in tqdm(shards, desc=description, unit="shard", mininterval=5, leave=False):
                run.send(shard)
                if len(run.waiting) >= 2 * max(1, _room(share)):
                    yield run.result()
            while run.waiting:
                yield run.result()
        finally:
            for reference, _ in run.waiting:
                if reference is not None:
                    ray.cancel(reference, force=True)

    def _connect(self) -> None:
        """Find or start the cluster, once a process."""
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
        os.environ["RAY_ENABLE_UV_RUN_RUNTIME_ENV"] = "0"  # workers have an environment of their own
        if ray.is_initialized():
            return
        names = {PORTABLE, *SETTINGS["intel"]} & set(os.environ)
        environment = {name: os.environ[name] for name in sorted(names)} | {WORKER: "1"}
        own: dict[str, Any] = {"address": self.address}
        if self.address is None:
            environment[SCRATCH] = str(self.work.absolute() / "scratch")
            own = {"address": "local", "num_cpus": self.workers, "include_dashboard": False}
            os.environ.setdefault("RAY_AUTH_TOKEN", token_hex(32))  # else Ray writes one into the home folder
        root = code_root()
        others = [f"/{path.name}" for path in root.iterdir() if path.name not in OWN] + ["__pycache__"]
        runtime = {"env_vars": environment, "working_dir": str(root), "excludes": others}
        try:
            ray.init(**own, runtime_env=runtime, logging_level=logging.WARNING)
        except ConnectionError as error:
            raise BadInput(f"no Ray cluster there: {error}", field="run.ray_address", got=self.address) from None


class _Run:
    """One function on its shards, whose results lie in the order of the shards."""

    def __init__(self, engine: RayEngine, function: Callable[[Any], Any], share: float, out: Path | None) -> None:
        inner = function
        while isinstance(inner, partial):
            inner = inner.func
        # Reference, None where an earlier run of the stage has kept the result, and where the result is kept.
        self.waiting: deque[tuple[Any, Path]] = deque()
        self._out, self._kept = out, engine.work / "ray"
        self._storage = engine.storage or ("" if engine.address else str(engine.work.absolute() / "storage"))
        self._name = f"{inner.__module__}.{inner.__qualname__} to {out}".encode()
        self._function = ray.put(dumps(function, self._place))
        parts = parts_of(inner).items()  # packages must be the same wherever the function runs
        self._versions = {name.removeprefix("package "): entry for name, entry in parts if " " in name}
        self._run = ray.remote(run_shard).options(max_retries=ATTEMPTS - 1, num_cpus=1, num_gpus=share)

    def send(self, shard: object) -> None:
        """Hand a shard to Ray, unless its result and all files that it wrote are still there."""
        packed = dumps(shard, self._place)
        kept = self._kept / f"{hashlib.sha256(self._name + packed).hexdigest()[:32]}.pickle"
        is_kept = self._out is not None and kept.exists()
        if is_kept and all(Path(file).exists() for file in pickle.loads(kept.read_bytes())[1]):
            self.waiting.append((None, kept))
        else:
            self.waiting.append((self._run.remote(self._function, packed, self._storage, self._versions), kept))

    def result(self) -> Any:
        """The next result, when what was written lies in the folder for results; raises what the function raised."""
        reference, kept = self.waiting.popleft()
        if reference is None:
            return loads(pickle.loads(kept.read_bytes())[0], self._path)
        try:
            result, digest = ray.get(reference)
        except RayTaskError as error:
            raise error.cause from error
        except RayError as error:
            why = str(error).strip().partition("\n")[0]
            raise BadInput(f"a shard was lost {ATTEMPTS} times with its worker, at last so: {why}") from None
        if digest is not None and self._out is not None:
            part = self._out / f".{uuid.uuid4().hex}.arriving"
            fetch(digest, self._storage, part)
            files = [str(self._out / file.relative_to(part / "out")) for file in part.rglob("*") if file.is_file()]
            _merge(part / "out", self._out)
            shutil.rmtree(part)
            with write_atomically(kept) as file:
                file.write_bytes(pickle.dumps((result, files)))
        return loads(result, self._path)

    def _place(self, path: Path) -> Place:
        if self._out is not None and path.is_relative_to(self._out) and not path.is_file():
            return "out", str(path.relative_to(self._out))
        if not path.exists():
            return "text", str(path)
        if not self._storage:
            expected = "a folder that all machines reach, or s3://…"
            raise BadInput("files cannot travel", field="run.ray_storage", got=None, expected=expected)
        return "content", put(path, self._storage), str(path)

    def _path(self, place: Place) -> Path:
        return self._out / place[1] if self._out is not None and place[0] == "out" else Path(place[1])


def _room(share: float) -> int:
    """The number of workers, each with one CPU and this share of a GPU, that fit the cluster's machines now."""
    machines = [machine["Resources"] for machine in ray.nodes() if machine["Alive"]]
    room = [(resources.get("CPU", 0.0), resources.get("GPU", 0.0)) for resources in machines]
    return sum(int(min(cpus, gpus / share) if share else cpus) for cpus, gpus in room)


def _merge(folder: Path, target: Path) -> None:
    """Move the content of a folder into another, files before folders."""
    for source in sorted(folder.iterdir(), key=Path.is_dir):
        goal = target / source.name
        if source.is_dir() and goal.is_dir():
            _merge(source, goal)
        else:
            source.replace(goal)


def put(path: Path, storage: str) -> str:
    """Keep a file or folder as an archive, unless it is there; returns the digest of its names and bytes."""
    system, folder = url_to_fs(storage)
    with tempfile.TemporaryFile() as archive:
        with tarfile.open(fileobj=archive, mode="w", dereference=True) as tar:
            nobody: dict[str, Any] = {"mtime": 0, "uid": 0, "gid": 0, "uname": "", "gname": "", "deep": False}
            tar.add(path, path.name, filter=lambda file: file.replace(**nobody))
        archive.seek(0)
        digest = hashlib.file_digest(archive, "sha256").hexdigest()
        if not system.exists(f"{folder}/{digest}"):
            archive.seek(0)
            system.makedirs(folder, exist_ok=True)
            part = f"{folder}/{uuid.uuid4().hex}.partial"
            with system.open(part, "wb") as stream:
                shutil.copyfileobj(archive, stream)
            system.mv(part, f"{folder}/{digest}")
    return digest


def fetch(digest: str, storage: str, target: Path) -> None:
    """Unpack what has this digest into a folder, which appears when it is complete."""
    system, folder = url_to_fs(storage)
    part = target.with_name(f".{uuid.uuid4().hex}.partial")
    with system.open(f"{folder}/{digest}", "rb") as stream, tarfile.open(fileobj=stream, mode="r|") as archive:
        archive.extractall(part, filter="data")
    try:
        part.rename(target)
    except OSError:  # another process of this machine was faster
        if not target.exists():
            raise
        shutil.rmtree(part)


def dumps(value: Any, place: Callable[[Path], Place]) -> bytes:
    """Pickle a value with its paths replaced by the places that `place` returns."""

    class Pickler(CloudPickler):
        def persistent_id(self, part: Any) -> Place | None:
            return place(part) if isinstance(part, Path) else None

        def reducer_override(self, part: Any) -> Any:
            if isinstance(part, MatrixRows):
                return MatrixRows, (np.array(part.read()), part.start, part.stop)
            return super().reducer_override(part)

    buffer = io.BytesIO()
    Pickler(buffer, protocol=5).dump(value)
    return buffer.getvalue()


def loads(pickled: bytes, path: Callable[[Place], Path]) -> Any:
    """Unpickle what `dumps` has pickled, with its places replaced by the paths that `path` returns."""

    class Unpickler(pickle.Unpickler):
        def persistent_load(self, place: Place) -> Path:
            return path(place)

    return Unpickler(io.BytesIO(pickled)).load()


def run_shard(function: bytes, shard: bytes, storage: str, versions: Mapping[str, str]) -> tuple[bytes, str | None]:
    """Run a packed function on a packed shard; returns the packed result, and the digest of what was written.

    What a function names stays on the machine, for its other shards and later stages; what a shard names goes with it.
    `BadInput` where a package has another version than where the stage runs.
    """
    redact_output()
    for name, expected in versions.items():
        if (own := installed_version(name)) != expected:
            raise BadInput(f"a worker has another {name}", got=own, expected=f"{expected}, as where the stage runs")
    scratch = Path(os.environ.get(SCRATCH) or tempfile.gettempdir()).absolute() / f"trivium-{os.getuid()}"
    scratch.mkdir(parents=True, exist_ok=True, mode=0o700)
    with tempfile.TemporaryDirectory(dir=scratch) as own_folder, ExitStack() as stack:
        os.chdir(own_folder)  # never back: Ray may have removed the folder where this process began
        out, content = Path(own_folder, "out"), Path(own_folder, "content")
        for folder in (out, content, scratch / "content"):
            folder.mkdir(exist_ok=True)
        shown: dict[Path, Path] = {}  # content that lies here, and how it is called where the stage runs

        def path_of(below: Path, place: Place) -> Path:
            if place[0] != "content":
                return out / place[1] if place[0] == "out" else Path(place[1])
            if not (below / place[1]).exists():
                fetch(place[1], storage, below / place[1])
            path = below / place[1] / Path(place[2]).name
            shown[path] = Path(place[2])
            return path

        def place_of(path: Path) -> Place:
            if path.is_relative_to(out):
                return "out", str(path.relative_to(out))
            around = next((own for own in shown if path.is_relative_to(own)), None)
            return "text", str(path if around is None else shown[around] / path.relative_to(around))

        run, argument = loads(function, partial(path_of, scratch / "content")), loads(shard, partial(path_of, content))
        for path, named in shown.items():
            stack.enter_context(naming(named, instead_of=path))
        return dumps(run(argument), place_of), put(out, storage) if any(out.iterdir()) else None
