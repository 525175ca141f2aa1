"""The pins file: the revisions and digests of the hub world, with those recorded at the first download.

`pins.yaml` is written by people and never changed by a program. What it leaves null is recorded in `pins.lock.yaml`
beside it, to be committed. Of the two only `pins.yaml` may be a dependency in `dvc.yaml`: a digest that one stage
records must not send another one to download again. `requested.yaml` lists sets that their owners give on request only.
"""

import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import yaml

from trivium.core.atomic import write_atomically
from trivium.core.errors import BadInput

PINS = Path(__file__).with_name("pins.yaml")
S = TypeVar("S")


@dataclass(frozen=True)
class FilePin:
    """Digest and size of a file; None where they are not known."""

    sha256: str | None = None
    size: int | None = None


@dataclass(frozen=True)
class Source:
    """A hub repository at a revision, or a folder on the web; files by name, or patterns of names (`list`)."""

    description: str
    licence: str
    bytes: int
    hub: str | None = None
    kind: str | None = None
    revision: str | None = None
    url: str | None = None
    page: str | None = None
    files: dict[str, FilePin] | None = None
    list: str | None = None


@dataclass(frozen=True)
class _Learnt:
    """Revision and files as recorded at the first download of a source."""

    revision: str | None = None
    files: dict[str, FilePin] = field(default_factory=dict)


class Pins:
    """The sources by name, with what was recorded for them.

    Raises:
        BadInput: a file is not there, not YAML, or an entry has an unknown key.
    """

    def __init__(self, path: Path | None = None, lock: Path | None = None) -> None:
        self.path = path = path or PINS
        self.lock = lock or path.with_name("pins.lock.yaml")
        self.sources = _read(path, Source)
        self._learnt = _read(self.lock, _Learnt) if self.lock.exists() else {}

    def source(self, name: str) -> Source:
        """A source by name; `BadInput` lists the names there are."""
        if name not in self.sources:
            raise BadInput("no such source", file=self.path, field=name, choices=self.sources)
        return self.sources[name]

    def revision(self, name: str) -> str | None:
        """The full commit if it is known: pinned in full, or recorded for what is pinned."""
        pinned, learnt = self.source(name).revision, self._of(name).revision
        return pinned if pinned and len(pinned) == 40 else learnt

    def file(self, name: str, file: str) -> FilePin:
        """Digest and size of a file: as pinned, else as recorded, else unknown."""
        pinned, learnt = (self.source(name).files or {}).get(file, FilePin()), self._of(name).files.get(file, FilePin())
        return FilePin(sha256=pinned.sha256 or learnt.sha256, size=learnt.size if pinned.size is None else pinned.size)

    def record_revision(self, name: str, revision: str) -> None:
        """Keep the commit that stands for an abbreviated or absent revision."""
        if self.revision(name) != revision:
            self._keep(name, _Learnt(revision=revision), f"revision {revision}")

    def record_file(self, name: str, file: str, sha256: str, size: int) -> None:
        """Keep the digest of a file that has none yet."""
        if self.file(name, file).sha256 is None:
            files = {**self._of(name).files, file: FilePin(sha256=sha256, size=size)}
            self._keep(name, _Learnt(revision=self.revision(name), files=files), f"{file} sha256 {sha256}")

    def summary(self, names: Iterable[str]) -> dict[str, Any]:
        """The provenance of data: place, revision, licence and digests of each source."""
        return {
            name: {
                "from": self.source(name).hub or self.source(name).url,
                "revision": self.revision(name),
                "licence": self.source(name).licence,
                "sha256": {
                    file: self.file(name, file).sha256
                    for file in sorted({*(self.source(name).files or ()), *self._of(name).files})
                },
            }
            for name in names
        }

    def _of(self, name: str) -> _Learnt:
        """The record of a source, unless it is of another revision than the pinned one."""
        learnt = self._learnt.get(name, _Learnt())
        pinned = self.source(name).revision or ""
        return learnt if (learnt.revision or pinned).startswith(pinned) else _Learnt()

    def _keep(self, name: str, learnt: _Learnt, what: str) -> None:
        # Two stages may download at once: start from what the file says now.
        if self.lock.exists():
            self._learnt = _read(self.lock, _Learnt)
        self._learnt[name] = learnt
        print(f"warning: {name}: {what} was not pinned; recorded in {self.lock}, enforced from now on", file=sys.stderr)
        with write_atomically(self.lock) as temporary:
            tree = {key: _without_none(asdict(value)) for key, value in sorted(self._learnt.items())}
            text = "# Recorded at the first download; commit this file.\n" + yaml.safe_dump(tree)
            temporary.write_text(text, "utf-8")


def _without_none(value: Any) -> Any:
    """A mapping without the keys whose value is None, at any depth."""
    if not isinstance(value, dict):
        return value
    return {key: _without_none(part) for key, part in value.items() if part is not None}


def _read(path: Path, kind: type[S]) -> dict[str, S]:
    try:
        tree: Any = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
        return {
            name: kind(**entry | {"files": {file: FilePin(**pin) for file, pin in entry["files"].items()}})
            if entry.get("files")
            else kind(**entry)
            for name, entry in tree.items()
        }
    except FileNotFoundError:
        raise BadInput("no such pins file", file=path) from None
    except (yaml.YAMLError, TypeError, AttributeError) as error:
        raise BadInput(f"not a mapping of sources: {error}", file=path) from None


REQUESTED = Path(__file__).with_name("requested.yaml")


def refuse_download(
    name: str, *, folders: Sequence[str] = (), choices: Sequence[str] = ("sample", "local")
) -> BadInput:
    """The error for a set that is given on request only; it says what to do.

    Args:
        name: of the set in `requested.yaml` and in `world`.
        folders: what else the user's folder must hold.
        choices: the sources that there are.
    """
    source = Pins(REQUESTED).source(name)
    needed = ", ".join(source.files or ()) + "".join(f" and {folder}/" for folder in folders)
    return BadInput(
        f"{source.description}, is given on request only ({source.licence})",
        field=f"world.{name}",
        got="hub",
        expected=f"ask for it at {source.page}, put {needed} into the folder "
        f"world.local.{name} names, and set world.{name}: local",
        choices=choices,
    )
