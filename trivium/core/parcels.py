"""How a function and its shards travel between machines that share no disk, and how a worker of Ray runs them.

While an object is pickled its `Path`s are looked at, at any depth. One that is there goes as content, a file or a whole
folder, through a storage that all machines reach. One inside the folder for results goes as a place in that folder. Any
other stays a text, and so does a path that is told as a `str`. Rows of a matrix go as an array.
"""

import hashlib
import io
import os
import pickle
import shutil
import tarfile
import tempfile
import uuid
from collections.abc import Callable, Mapping
from contextlib import ExitStack, chdir
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any

from fsspec.core import url_to_fs
from ray.cloudpickle import CloudPickler

from trivium.core.errors import BadInput, naming
from trivium.core.matrices import MatrixRows
from trivium.core.redaction import redact_output

SCRATCH = "TRIVIUM_SCRATCH"  # where a worker has its files; else the system's folder for temporary files
Place = tuple[str, ...]  # ("content", digest, path there), ("out", path inside), or ("text", path)


class _Digested:
    """A stream whose bytes are digested on their way."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream, self._digest = stream, hashlib.sha256()

    def write(self, data: bytes) -> int:
        self._digest.update(data)
        return self._stream.write(data)

    def read(self, size: int) -> bytes:
        data = self._stream.read(size)
        self._digest.update(data)
        return data

    def hexdigest(self) -> str:
        return self._digest.hexdigest()


@dataclass(frozen=True)
class Storage:
    """Archives of files and folders, each named by its digest.

    Attributes:
        address: a folder, or an address of fsspec such as `s3://bucket/trivium`; None: there is none.
    """

    address: str | None

    def put(self, path: Path) -> str:
        """Keep a file or folder, unless it is there; returns its digest.

        Raises:
            BadInput: there is no storage.
        """
        if self.address is None:
            expected = "a folder that all machines reach, or s3://…"
            raise BadInput("files need a place to travel through", field="run.ray_storage", got=None, expected=expected)
        with open(os.devnull, "wb") as nothing:
            digest = _archive(path, nothing)
        system, folder = url_to_fs(self.address)
        if not system.exists(f"{folder}/{digest}"):
            beside = f"{folder}/{uuid.uuid4().hex}.partial"
            system.makedirs(folder, exist_ok=True)
            with system.open(beside, "wb") as stream:
                _archive(path, stream)
            system.mv(beside, f"{folder}/{digest}")
        return digest

    def fetch(self, digest: str, target: Path) -> None:
        """Unpack what has this digest into a folder, which appears when it is complete.

        Raises:
            BadInput: it is not what was put there.
        """
        system, folder = url_to_fs(self.address)
        beside = target.with_name(f".{uuid.uuid4().hex}.partial")
        with system.open(f"{folder}/{digest}", "rb") as stream:
            read = _Digested(stream)
            with tarfile.open(fileobj=read, mode="r|") as archive:  # type: ignore[call-overload]
                archive.extractall(beside, filter="data")
            while read.read(1 << 20):  # what pads an archive
                pass
        if read.hexdigest() != digest:
            raise BadInput("not what was put there", file=f"{self.address}/{digest}", got=read.hexdigest())
        try:
            beside.rename(target)
        except OSError:  # another process of this machine was faster
            if not target.exists():
                raise
            shutil.rmtree(beside)


def _archive(path: Path, stream: Any) -> str:
    """Write an archive of names and bytes alone; returns its digest."""
    written = _Digested(stream)
    with tarfile.open(fileobj=written, mode="w|", dereference=True) as archive:  # type: ignore[call-overload]
        archive.add(path, path.name, filter=_without_owner)
    return written.hexdigest()


def _without_owner(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.mtime = member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


def dumps(value: Any, place: Callable[[Path], Place]) -> bytes:
    """A pickle whose paths are places, in the words of `place`."""

    class Pickler(CloudPickler):
        def persistent_id(self, part: Any) -> Place | None:
            return place(part) if isinstance(part, Path) else None

        def reducer_override(self, part: Any) -> Any:
            if isinstance(part, MatrixRows):
                return MatrixRows, (part.read(), part.start, part.stop)
            return super().reducer_override(part)

    buffer = io.BytesIO()
    Pickler(buffer, protocol=5).dump(value)
    return buffer.getvalue()


def loads(pickled: bytes, path: Callable[[Place], Path]) -> Any:
    """What `dumps` has pickled, with the paths that `path` finds for its places."""

    class Unpickler(pickle.Unpickler):
        def persistent_load(self, place: Place) -> Path:
            return path(place)

    return Unpickler(io.BytesIO(pickled)).load()


@dataclass
class _Here:
    """Where things lie on a worker's machine.

    Attributes:
        out: folder for results.
        storage: where content is.
        shown: content that lies here, and how it is called where the stage runs.
    """

    out: Path
    storage: Storage
    shown: dict[Path, str] = field(default_factory=dict)

    def loads(self, pickled: bytes, folder: Path) -> Any:
        """A packed value; the content that it names is unpacked below `folder`, unless it is there."""

        def path(place: Place) -> Path:
            if place[0] == "out":
                return self.out / place[1]
            if place[0] == "text":
                return Path(place[1])
            _, digest, shown = place
            if not (folder / digest).exists():
                self.storage.fetch(digest, folder / digest)
            self.shown[folder / digest / Path(shown).name] = shown
            return folder / digest / Path(shown).name

        return loads(pickled, path)

    def place(self, path: Path) -> Place:
        """What a path in a result is where the stage runs."""
        if path.is_relative_to(self.out):
            return "out", str(path.relative_to(self.out))
        for there, shown in self.shown.items():
            if path.is_relative_to(there):
                return "text", str(Path(shown) / path.relative_to(there))
        return "text", str(path)


def run_shard(
    function: bytes, shard: bytes, storage: Storage, versions: Mapping[str, str]
) -> tuple[bytes, str | None]:
    """Run a packed function on a packed shard; returns the packed result, and the digest of what was written.

    What a function names stays on the machine, for its other shards and later stages; what a shard names goes with it.

    Args:
        function, shard: see `dumps`.
        storage: where content is.
        versions: of packages, where the stage runs.

    Raises:
        BadInput: a package has another version here.
    """
    redact_output()
    for name, expected in versions.items():
        if (own := version(name)) != expected:
            raise BadInput(f"a worker has another {name}", got=own, expected=f"{expected}, as where the stage runs")
    scratch = Path(os.environ.get(SCRATCH) or tempfile.gettempdir()).absolute() / f"trivium-{os.getuid()}"
    scratch.mkdir(parents=True, exist_ok=True, mode=0o700)
    with tempfile.TemporaryDirectory(dir=scratch) as own_folder, chdir(own_folder), ExitStack() as stack:
        here = _Here(Path(own_folder, "out"), storage)
        here.out.mkdir()
        run = here.loads(function, scratch / "content")
        told = here.loads(shard, Path(own_folder, "content"))
        for there, shown in here.shown.items():
            stack.enter_context(naming(Path(shown), instead_of=there))
        result = dumps(run(told), here.place)
        return result, storage.put(here.out) if any(here.out.iterdir()) else None
