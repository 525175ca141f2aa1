"""What travels between machines that share no disk: an object, and the content of the files that it names.

While an object is pickled its `Path`s are looked at, at any depth. One that is there goes as content, a file or a whole
folder. One inside the folder for results goes as a place in that folder. Any other stays a text. Whoever unpickles says
where content lies on this machine, and which folder is for results. A path that is told as a `str` is left alone. An
`Excerpt` goes as a file of its own: of the file that it is from nothing else goes along.

Parcels consist of built-in types only: they are read before a worker knows whether it has the right code.
"""

import hashlib
import io
import pickle
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol

import ray
from fsspec.core import url_to_fs
from ray.cloudpickle import CloudPickler

from trivium.core.errors import BadInput

Listed = list[tuple[str, Any]]  # path inside a folder ("": the file itself), where its bytes are; None: a folder
Place = tuple[str, ...]  # ("content", digest, path there), ("out", path inside), or ("text", path)
Parcel = tuple[bytes, dict[str, Listed]]  # a pickle, and by digest the content that it names
_CHUNK = 1 << 26


class Store(Protocol):
    """Where the bytes of files are while they travel."""

    def put(self, file: Path) -> Any:
        """Take a file's bytes; returns what `chunks` finds them by."""
        ...

    def chunks(self, kept: Any) -> Iterator[bytes]:
        """A file's bytes, piece by piece."""
        ...


@dataclass(frozen=True)
class InMessage:
    """Bytes go with the message itself: results of a worker, which may end before they are asked for."""

    def put(self, file: Path) -> list[bytes]:
        """The file's bytes."""
        return list(_chunks(file))

    def chunks(self, kept: list[bytes]) -> Iterator[bytes]:
        """These bytes."""
        yield from kept


@dataclass(frozen=True)
class InObjects:
    """Bytes are objects of Ray, which fetches them where they are asked for, and spills them to disk."""

    def put(self, file: Path) -> list[Any]:
        """References to the file's bytes."""
        return [ray.put(chunk) for chunk in _chunks(file)]

    def chunks(self, kept: list[Any]) -> Iterator[bytes]:
        """The bytes, one object in memory at a time."""
        for reference in kept:
            yield ray.get(reference)


@dataclass(frozen=True)
class InFolder:
    """Bytes are files, named by their digest, of a folder that all machines reach: shared, or an address of fsspec.

    Attributes:
        address: such as `/shared/trivium` or `s3://bucket/trivium`.
    """

    address: str

    def put(self, file: Path) -> str:
        """Write the file, unless it is there; returns its address."""
        digest = hashlib.sha256()
        for chunk in _chunks(file):
            digest.update(chunk)
        system, folder = url_to_fs(self.address)
        target, beside = f"{folder}/{digest.hexdigest()}", f"{folder}/{uuid.uuid4().hex}.partial"
        if not system.exists(target):
            system.makedirs(folder, exist_ok=True)
            system.put_file(str(file), beside)
            system.mv(beside, target)
        return digest.hexdigest()

    def chunks(self, kept: str) -> Iterator[bytes]:
        """The bytes of a file.

        Raises:
            BadInput: they are not those that were written.
        """
        system, folder = url_to_fs(self.address)
        digest = hashlib.sha256()
        with system.open(f"{folder}/{kept}", "rb") as stream:
            while chunk := stream.read(_CHUNK):
                digest.update(chunk)
                yield chunk
        if digest.hexdigest() != kept:
            raise BadInput("not the bytes that were written", file=f"{self.address}/{kept}", got=digest.hexdigest())


class Excerpt(Protocol):
    """Part of a file, such as some rows of a matrix; `type(self)(path, *told)` makes it of a file of its own.

    Attributes:
        path: of the file.
    """

    path: Path

    def write_alone(self, file: Path) -> tuple[Any, ...]:
        """Write it into a file of its own; returns what is told beside the path."""
        ...


def dumps(
    value: Any,
    place: Callable[[Path], Place],
    place_of_excerpt: Callable[[Excerpt], tuple[Place, tuple[Any, ...]]] | None = None,
) -> bytes:
    """A pickle whose paths are places, in the words of `place`; those of excerpts in the words of the other."""

    class Pickler(CloudPickler):  # functions of a module that is run as a script go by value
        def persistent_id(self, found: Any) -> tuple[Any, ...] | None:
            if place_of_excerpt and hasattr(type(found), "write_alone"):
                return *place_of_excerpt(found), type(found)
            return (place(found),) if isinstance(found, Path) else None

    buffer = io.BytesIO()
    Pickler(buffer, protocol=5).dump(value)
    return buffer.getvalue()


def loads(pickled: bytes, path: Callable[[Place], Path]) -> Any:
    """What `dumps` has pickled, with the paths that `path` finds for its places."""

    class Unpickler(pickle.Unpickler):
        def persistent_load(self, found: tuple[Any, ...]) -> Any:
            if len(found) == 1:
                return path(found[0])
            there, told, kind = found
            return kind(path(there), *told)

    return Unpickler(io.BytesIO(pickled)).load()


@dataclass
class Packer:
    """Packs a function and its shards.

    Attributes:
        store: where bytes are kept.
        out: the folder for results; None without any.
    """

    store: Store
    out: Path | None = None
    _known: dict[Path, tuple[str, Listed]] = field(default_factory=dict)

    def pack(self, value: Any, *, remember: bool = False) -> Parcel:
        """A value as a parcel.

        Args:
            value: can be pickled.
            remember: whether what it names is named again, and need not be read then.
        """
        contents: dict[str, Listed] = {}

        def place(path: Path) -> Place:
            if self.out is not None and path.is_relative_to(self.out) and not path.is_file():
                return "out", str(path.relative_to(self.out))
            if not path.exists():
                return "text", str(path)
            digest, listed = self._known.get(path) or content(path, self.store)
            if remember:
                self._known[path] = digest, listed
            contents[digest] = listed
            return "content", digest, str(path)

        def place_of_excerpt(excerpt: Excerpt) -> tuple[Place, tuple[Any, ...]]:
            with TemporaryDirectory() as folder:
                alone = Path(folder, excerpt.path.name)
                told = excerpt.write_alone(alone)
                digest, listed = content(alone, self.store)
            contents[digest] = listed
            return ("content", digest, str(excerpt.path)), told

        return dumps(value, place, place_of_excerpt), contents


def content(path: Path, store: Store) -> tuple[str, Listed]:
    """(digest of the name and all bytes, what is listed) of a file or folder."""
    digest = hashlib.sha256(path.name.encode())
    listed: Listed = []
    for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
        name = "" if file == path else file.relative_to(path).as_posix()
        digest.update(f"\0{name}\0".encode())
        if file.is_dir():
            listed.append((name, None))
            continue
        for chunk in _chunks(file):
            digest.update(chunk)
        listed.append((name, store.put(file)))
    return digest.hexdigest(), listed


def fetch(listed: Listed, target: Path, store: Store) -> None:
    """Write content to a path, which is not there, in a folder that is this caller's."""
    if [name for name, _ in listed] == [""]:
        target.parent.mkdir(parents=True)
    else:
        target.mkdir(parents=True)
    for name, kept in listed:
        file = target / name
        if kept is None:
            file.mkdir()
            continue
        with file.open("wb") as stream:
            for chunk in store.chunks(kept):
                stream.write(chunk)


def _chunks(file: Path) -> Iterator[bytes]:
    with file.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            yield chunk
