"""What a worker of a Ray cluster does with a shard (`ray_engine.py`): checks its code, unpacks, runs, packs.

A worker reads and writes in a folder of its own: below `$TRIVIUM_SCRATCH`, else the system's folder for temporary
files. What a function names stays there for its other shards and for later stages; what a shard names goes with it.
"""

import os
import pickle
import shutil
import tempfile
import traceback
import uuid
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, chdir, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ray.exceptions import RayError

from trivium.core.code.digest import installed_version, module_parts
from trivium.core.errors import naming
from trivium.core.parcels import (
    InFolder,
    InMessage,
    InObjects,
    Listed,
    Parcel,
    Place,
    Store,
    content,
    dumps,
    fetch,
    loads,
)
from trivium.core.redaction import redact_output

DONE, FAILED, OTHER_CODE = "done", "failed", "other code"
Outcome = tuple[str, bytes, Listed]  # one of these; a pickle, or what is other and its version; what was written


def run_shard(
    module: str, versions: Mapping[str, str], function: Parcel, shard: Parcel, storage: str | None, node: str
) -> Outcome:
    """Run a packed function on a packed shard.

    Args:
        module: the function's.
        versions: see `versions_of`, where the stage runs.
        function, shard: see `parcels.py`.
        storage: folder that bytes travel through; None: Ray's objects, and the message itself.
        node: name of this worker's machine, unique in its cluster.
    """
    redact_output()
    for name, version in versions.items():
        own = module_parts(module).digest if name == module else installed_version(name)
        if own != version:
            return OTHER_CODE, f"{name} {own}".encode(), []
    scratch = Path(os.environ.get("TRIVIUM_SCRATCH") or tempfile.gettempdir()).absolute()
    inputs = scratch / f"trivium-{os.getuid()}" / node
    with _folder(inputs) as own_folder:
        here = _Here(own_folder / "out", InFolder(storage) if storage else InObjects())
        here.out.mkdir()
        try:
            with chdir(_made(own_folder / "work")), ExitStack() as stack:
                run = here.unpack(function, inputs / "content")
                told = here.unpack(shard, own_folder / "content")
                for there, shown in here.shown.items():
                    stack.enter_context(naming(Path(shown), instead_of=there))
                result = dumps(run(told), here.place)
        except Exception as error:
            if isinstance(error, RayError):  # an object was lost, and with it this shard
                raise
            error.add_note(f"on {node}:\n{traceback.format_exc()}")
            return FAILED, _pickled(error), []
        return DONE, result, content(here.out, InFolder(storage) if storage else InMessage())[1]


@dataclass
class _Here:
    """Where things lie on this machine.

    Attributes:
        out: folder for results.
        store: where the bytes of inputs are.
        shown: content that lies here, and how it is called where the stage runs.
    """

    out: Path
    store: Store
    shown: dict[Path, str] = field(default_factory=dict)

    def unpack(self, parcel: Parcel, folder: Path) -> Any:
        """A packed value; the content that it names is written below `folder`, unless it is there."""
        pickled, contents = parcel

        def path(place: Place) -> Path:
            if place[0] == "out":
                return self.out / place[1]
            if place[0] == "text":
                return Path(place[1])
            _, digest, shown = place
            there = folder / digest / Path(shown).name
            if not there.exists():
                self._fetch(contents[digest], there)
            self.shown[there] = shown
            return there

        return loads(pickled, path)

    def _fetch(self, listed: Listed, there: Path) -> None:
        """Several processes of a machine may want the same content; the first that has it counts."""
        beside = there.parent.with_name(f".{uuid.uuid4().hex}.partial")
        fetch(listed, beside / there.name, self.store)
        try:
            beside.rename(there.parent)
        except OSError:
            if not there.exists():
                raise
            shutil.rmtree(beside)

    def place(self, path: Path) -> Place:
        """What a path in a result is where the stage runs."""
        if path.is_relative_to(self.out):
            return "out", str(path.relative_to(self.out))
        for there, shown in self.shown.items():
            if path.is_relative_to(there):
                return "text", str(Path(shown) / path.relative_to(there))
        return "text", str(path)


@contextmanager
def _folder(above: Path) -> Iterator[Path]:
    """A folder for one shard, which goes with it."""
    above.mkdir(parents=True, exist_ok=True, mode=0o700)
    folder = above / uuid.uuid4().hex
    try:
        yield _made(folder)
    finally:
        shutil.rmtree(folder)


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def _pickled(error: Exception) -> bytes:
    """An exception of any kind; of one that cannot be pickled the message."""
    try:
        pickle.loads(kept := pickle.dumps(error))
    except Exception:
        kept = pickle.dumps(RuntimeError(f"{type(error).__name__}: {error}"))
    return kept
