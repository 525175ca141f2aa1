"""Which version of which package a top-level name means, as locked in `uv.lock`."""

import hashlib
import importlib.metadata
import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from trivium.core.code.source import write_text

ABSENT = "absent"
_CACHE = Path(".work") / "code" / "packages.json"
_LINE = re.compile(r'^(name|version) = "([^"]+)"', re.MULTILINE)


class Packages:
    """Looks up versions for one root; what is installed is asked once, and again when the environment changed.

    Args:
        root: folder of `uv.lock`; without one, versions are those that are installed.
    """

    def __init__(self, root: Path) -> None:
        self._locked = locked_versions(root / "uv.lock")
        self._providers = _providers(root)

    def versions(self, name: str) -> dict[str, str]:
        """Distribution to version for each that provides a top-level name; nothing for the standard library.

        A name that no distribution provides is its own distribution if one is locked under it, else it is `ABSENT`. Of
        several versions in the lock (for several platforms) all are named.
        """
        if name in sys.stdlib_module_names or name == "__main__":
            return {}
        found = self._providers.get(name) or [_normal(name)]
        return {distribution: self._version(distribution) for distribution in found}

    def _version(self, distribution: str) -> str:
        if distribution in self._locked:
            return " ".join(self._locked[distribution])
        return installed_version(distribution)


@lru_cache
def installed_version(distribution: str) -> str:
    """Which version is installed, whatever is locked; `ABSENT` where none is."""
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return ABSENT


def locked_versions(lock: Path) -> dict[str, list[str]]:
    """Package to its versions, sorted, in a `uv.lock`; none without the file."""
    try:
        status = lock.stat()
    except FileNotFoundError:
        return {}
    return _parsed(lock, status.st_mtime_ns, status.st_size, status.st_ino)


@lru_cache(maxsize=4)
def _parsed(lock: Path, *_: int) -> dict[str, list[str]]:
    """Lines are enough: a package's name and version stand at the start of theirs, what it needs is indented."""
    versions: dict[str, set[str]] = defaultdict(set)
    package = ""
    for key, value in _LINE.findall(lock.read_text(encoding="utf-8")):
        if key == "name":
            package = _normal(value)
        elif package:
            versions[package].add(value)
    return {name: sorted(found) for name, found in sorted(versions.items())}


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _providers(root: Path) -> dict[str, list[str]]:
    """Top-level name to distributions; from the cache while the folders of packages are unchanged."""
    key, cache = _environment(root), root / _CACHE
    with suppress(OSError, ValueError, TypeError, KeyError):
        content = json.loads(cache.read_bytes())
        if content["environment"] == key:
            return {str(name): [str(item) for item in found] for name, found in content["providers"].items()}
    found = _installed(key)
    write_text(cache, json.dumps({"environment": key, "providers": found}))
    return found


@lru_cache(maxsize=4)
def _installed(_: str) -> dict[str, list[str]]:
    mapping = importlib.metadata.packages_distributions()
    return {name: sorted({_normal(item) for item in mapping[name]}) for name in sorted(mapping)}


def _environment(root: Path) -> str:
    return hashlib.sha256(repr((sys.version, list(_package_folders(root)))).encode()).hexdigest()


def _package_folders(root: Path) -> Iterator[tuple[str, int]]:
    """Folders of installed packages that Python imports from, with their time of change."""
    for entry in sys.path:
        folder = Path(entry).resolve()
        if entry and folder != root.resolve() and any(folder.glob("*.dist-info")):
            yield str(folder), folder.stat().st_mtime_ns
