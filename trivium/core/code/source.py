"""The project's own packages on disk: which modules there are, which other files, and what each module says."""

import hashlib
import json
import os
import uuid
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import Any

from trivium.core.code import normal, syntax
from trivium.core.code.syntax import Facts, read_facts

OWN = ("stages", "trivium", "sample")
RECORDED = "pins.lock.yaml"  # the one file beside the code that runs write
_CACHE = Path(".work") / "code" / "facts.json"
_ENTRIES = 5000  # a cache beyond this keeps what was asked for last


class Source:
    """A scan of the packages below a root; a module is read when it is first asked for.

    Args:
        root: folder that holds the packages.
        packages: their names; those that the root lacks are no packages of the project.

    Attributes:
        modules: dotted name to path below the root, with slashes.
        files: the paths of all other files, but for hidden ones, `__pycache__` and what runs write.
        folders: path of each folder that holds no module, at any depth, to the files in it.
    """

    def __init__(self, root: Path, packages: Sequence[str] = OWN) -> None:
        self.root = root
        self.packages = tuple(name for name in packages if (root / name).is_dir())
        paths = sorted(path for name in self.packages for path in _walk(root / name, name))
        self.modules = {_dotted(path): path for path in paths if path.endswith(".py")}
        self.files = {path for path in paths if not path.endswith(".py")}
        with_modules = {folder for path in self.modules.values() for folder in _above(path)}
        self.folders: dict[str, list[str]] = defaultdict(list)
        for path in sorted(self.files):
            for folder in _above(path):
                if folder not in with_modules:
                    self.folders[folder].append(path)
        self._digests: dict[str, str] = {}
        self._facts: dict[str, Facts] = {}
        self._cache = _Cache(root / _CACHE)

    def is_package(self, module: str) -> bool:
        """Whether a module is the `__init__` of a package."""
        return self.modules[module].endswith("/__init__.py")

    def folder(self, module: str) -> str:
        """The folder that a module lies in."""
        return self.modules[module].rpartition("/")[0]

    def facts(self, module: str) -> Facts:
        """What a module says.

        Raises:
            BadInput: see `read_facts`.
        """
        if module not in self._facts:
            path = self.modules[module]
            source = (self.root / path).read_bytes()
            self._digests[path] = hashlib.sha256(source).hexdigest()
            self._facts[module] = self._cache.facts(self._digests[path], source, path)
        return self._facts[module]

    def bytes_digest(self, path: str) -> str:
        """SHA-256 of a file as it was when it was first read here."""
        if path not in self._digests:
            self._digests[path] = hashlib.sha256((self.root / path).read_bytes()).hexdigest()
        return self._digests[path]

    def save(self) -> None:
        """Keep the facts that were read, so that they need not be read again."""
        self._cache.save()


def _walk(folder: Path, name: str) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(".") or entry.name in ("__pycache__", RECORDED) or entry.name.endswith(".pyc"):
                continue
            if entry.is_dir():
                yield from _walk(folder / entry.name, f"{name}/{entry.name}")
            elif entry.is_file():
                yield f"{name}/{entry.name}"


def _dotted(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _above(path: str) -> Iterator[str]:
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


class _Cache:
    """Facts by the digest of the source; without it, or with a broken one, all is only slower."""

    def __init__(self, path: Path) -> None:
        self._path = path
        modules = (normal.__file__, syntax.__file__)  # other code may find other facts
        self._by = hashlib.sha256(b"".join(Path(module).read_bytes() for module in modules)).hexdigest()
        self._used: dict[str, Any] = {}
        self._new = False

    @cached_property
    def _kept(self) -> dict[str, Any]:
        with suppress(OSError, ValueError, TypeError, KeyError):
            content = json.loads(self._path.read_bytes())
            return dict(content["facts"]) if content["by"] == self._by else {}
        return {}

    def facts(self, digest: str, source: bytes, path: str) -> Facts:
        with suppress(KeyError, TypeError):
            found = Facts(**self._kept[digest])
            self._used[digest] = self._kept[digest]
            return found
        found = read_facts(source, path)
        self._used[digest] = asdict(found)
        self._new = True
        return found

    def save(self) -> None:
        if not self._new:
            return
        kept = self._kept if len(self._kept) < _ENTRIES else {}
        write_text(self._path, json.dumps({"by": self._by, "facts": kept | self._used}))
        self._new = False


def write_text(path: Path, text: str) -> None:
    """Write a small file whole or not at all; of several writers at once the last one counts."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}.partial")
    try:
        beside.write_text(text, encoding="utf-8")
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
