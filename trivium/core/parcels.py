"""How a function and its shards travel between machines that share no disk, and how a worker of Ray runs them.

Each `Path` in a pickled object is replaced. One that is there goes as content, a file or a whole folder, through a
storage that all machines reach: a folder, or an address of fsspec. One in the folder for results goes as a place in it.
Any other stays a text, as does a path that is told as a `str`. Rows of a matrix go as an array.
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
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from fsspec.core import url_to_fs
from ray.cloudpickle import CloudPickler

from trivium.core.code.digest import installed_version
from trivium.core.errors import BadInput, naming
from trivium.core.matrices import MatrixRows
from trivium.core.redaction import redact_output

SCRATCH = "TRIVIUM_SCRATCH"  # where a worker has its files; else the system's folder for temporary files
Place = tuple[str, ...]  # ("content", digest, path there), ("out", path inside), or ("text", path)


def put(path: Path, storage: str) -> str:
    """Keep a file or folder as an archive, unless it is there; returns the digest of its names and bytes."""
    system, folder = url_to_fs(storage)
    with tempfile.TemporaryFile() as archive:
        with tarfile.open(fileobj=archive, mode="w", dereference=True) as tar:
            tar.add(path, path.name, filter=_without_owner)
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


def _without_owner(member: tarfile.TarInfo) -> tarfile.TarInfo:
    return member.replace(mtime=0, uid=0, gid=0, uname="", gname="", deep=False)


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
