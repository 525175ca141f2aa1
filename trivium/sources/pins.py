"""The pins file: the revisions and digests of the hub world, with those recorded at the first download.

`pins.yaml` is written by people and never changed by a program. What it leaves null is recorded in `pins.lock.yaml`
beside it, to be committed. Of the two only `pins.yaml` may be a dependency in `dvc.yaml`: a digest that one stage
records must not send another one to download again. `requested.yaml` lists sets that their owners give on request only.
"""

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, TypeAdapter, ValidationError

from trivium.core.atomic import write_atomically
from trivium.core.errors import BadInput
from trivium.sources.brought import sha256_of

PINS = Path(__file__).with_name("pins.yaml")
REQUESTED = Path(__file__).with_name("requested.yaml")
S = TypeVar("S")


class FilePin(BaseModel, frozen=True, extra="forbid"):
    """Digest and size of a file; None where they are not known."""

    sha256: str | None = None
    size: int | None = None


class Source(BaseModel, frozen=True, extra="forbid"):
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


class _Record(BaseModel, frozen=True, extra="forbid"):
    """Revision and files as recorded at the first download of a source."""

    revision: str | None = None
    files: dict[str, FilePin] = {}


class Pins:
    """The sources by name, with what was recorded for them."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path = path or PINS
        self.lock = path.with_name("pins.lock.yaml")
        self.sources = _read(path, Source)
        self._records = _read(self.lock, _Record) if self.lock.exists() else {}

    def source(self, name: str) -> Source:
        """A source by name; `BadInput` lists the names there are."""
        if name not in self.sources:
            raise BadInput("no such source", file=self.path, field=name, choices=self.sources)
        return self.sources[name]

    def revision(self, name: str) -> str | None:
        """The full commit if it is known: pinned in full, or recorded for what is pinned."""
        pinned, record = self.source(name).revision, self._of(name).revision
        return pinned if pinned and len(pinned) == 40 else record

    def file(self, name: str, file: str) -> FilePin:
        """Digest and size of a file: as pinned, else as recorded, else unknown."""
        pinned, record = (self.source(name).files or {}).get(file, FilePin()), self._of(name).files.get(file, FilePin())
        return FilePin(sha256=pinned.sha256 or record.sha256, size=record.size if pinned.size is None else pinned.size)

    def check(self, name: str, folder: Path, files: Iterable[str]) -> dict[str, str]:
        """Digests of a source's files in the user's folder; `BadInput` where one is not the file that is pinned."""
        digests = {file: sha256_of(folder / file) for file in files}
        for file, digest in digests.items():
            if (pinned := self.file(name, file).sha256) not in (None, digest):
                problem, expected = "not the file that is pinned", f"sha256 {pinned}"
                raise BadInput(problem, file=folder / file, got=digest, expected=expected)
        return digests

    def record_revision(self, name: str, revision: str) -> None:
        """Keep the commit that stands for an abbreviated or absent revision."""
        if self.revision(name) != revision:
            self._keep(name, _Record(revision=revision), f"revision {revision}")

    def record_file(self, name: str, file: str, pin: FilePin) -> None:
        """Keep the digest of a file that has none yet."""
        if self.file(name, file).sha256 is None:
            files = {**self._of(name).files, file: pin}
            self._keep(name, _Record(revision=self.revision(name), files=files), f"{file} sha256 {pin.sha256}")

    def summary(self, names: Iterable[str]) -> dict[str, Any]:
        """The provenance of data: place, revision, licence and digests of each source."""
        provenance = {}
        for name in names:
            source, files = self.source(name), sorted({*(self.source(name).files or ()), *self._of(name).files})
            origin = {"from": source.hub or source.url, "revision": self.revision(name), "licence": source.licence}
            provenance[name] = origin | {"sha256": {file: self.file(name, file).sha256 for file in files}}
        return provenance

    def _of(self, name: str) -> _Record:
        """The record of a source, unless it is of another revision than the pinned one."""
        record = self._records.get(name, _Record())
        pinned = self.source(name).revision or ""
        return record if (record.revision or pinned).startswith(pinned) else _Record()

    def _keep(self, name: str, record: _Record, what: str) -> None:
        # Two stages may download at once: start from what the file says now.
        if self.lock.exists():
            self._records = _read(self.lock, _Record)
        self._records[name] = record
        print(f"warning: {name}: {what} was not pinned; recorded in {self.lock}, enforced from now on", file=sys.stderr)
        with write_atomically(self.lock) as temporary:
            tree = {key: value.model_dump(exclude_none=True) for key, value in self._records.items()}
            text = "# Recorded at the first download; commit this file.\n" + yaml.safe_dump(tree)
            temporary.write_text(text, "utf-8")


def _read(path: Path, kind: type[S]) -> dict[str, S]:
    try:
        tree = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
        return TypeAdapter(dict[str, kind]).validate_python(tree)  # type: ignore[valid-type]
    except (ValidationError, yaml.YAMLError) as error:  # either names the field or the line
        raise BadInput(f"not a mapping of sources: {error}", file=path) from None


def refuse_download(
    name: str, *, folders: Sequence[str] = (), choices: Sequence[str] = ("sample", "local")
) -> BadInput:
    """The error for a set of `requested.yaml`; it says what to do, and which folders the user's must hold besides."""
    source = Pins(REQUESTED).source(name)
    needed = ", ".join(source.files or ()) + "".join(f" and {folder}/" for folder in folders)
    problem = f"{source.description}, is given on request only ({source.licence})"
    place = f"put {needed} into the folder world.local.{name} names, and set world.{name}: local"
    expected = f"ask for it at {source.page}, {place}"
    return BadInput(problem, field=f"world.{name}", got="hub", expected=expected, choices=choices)
