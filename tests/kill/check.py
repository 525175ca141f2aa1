"""What is wrong after a kill and a re-run: every output, file by file, against an undisturbed run, and what must hold."""

import hashlib
import json
import re
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from dvc.repo import Repo

CHILDREN = "mlflow.parentRunId"  # trainings; their parent goes on until the whole graph has run
CACHE = Path(".dvc") / "cache" / "files" / "md5"
_LAID_DOWN = re.compile(r"[0-9a-f]{2}/[0-9a-f]{30}(\.dir)?")
_NOT_OURS = {".git", ".dvc", ".work"}  # no output lies there


@dataclass(frozen=True)
class Reference:
    """What an undisturbed run leaves.

    Attributes:
        files: SHA-256 of each file of each output, by its path.
        lock: what `dvc.lock` says.
        cached: outputs that DVC keeps in its cache.
        varying: outputs that differ between two undisturbed runs: they must be there, and their bytes are not compared.
    """

    files: dict[str, str]
    lock: dict[str, Any]
    cached: frozenset[str]
    varying: frozenset[str] = frozenset()


def outputs(lock: dict[str, Any]) -> dict[str, str]:
    """The path of each output in `dvc.lock`, and its hash."""
    stages = lock.get("stages", {})
    return {out["path"]: out.get("md5", "") for stage in stages.values() for out in stage.get("outs", [])}


def read_lock(folder: Path) -> dict[str, Any]:
    """What `dvc.lock` says; nothing where it is absent, empty or broken."""
    try:
        lock = yaml.safe_load((folder / "dvc.lock").read_text("utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError):
        return {}
    return lock if isinstance(lock, dict) else {}


def hashes(folder: Path, paths: Iterable[str]) -> dict[str, str]:
    """SHA-256 of every file at or below the paths."""
    files = [file for path in paths for file in _files(folder / path)]
    return {str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def refer(folder: Path) -> Reference:
    """What an undisturbed run has left in a folder."""
    lock = read_lock(folder)
    with Repo(str(folder)) as repo:
        cached = frozenset(out.def_path for stage in repo.index.stages for out in stage.outs if out.use_cache)
    return Reference(hashes(folder, outputs(lock)), lock, cached)


def that_vary(one: Reference, other: Reference) -> frozenset[str]:
    """The outputs that two undisturbed runs do not leave alike."""
    unlike = {file for file in {*one.files, *other.files} if one.files.get(file) != other.files.get(file)}
    return frozenset(path for path in outputs(one.lock) if any(_inside(file, path) for file in unlike))


def faults(folder: Path, reference: Reference) -> list[str]:
    """All that is wrong in a project whose run has finished; each begins with its kind and a colon."""
    lock = read_lock(folder)
    return [
        *_files_faults(hashes(folder, outputs(reference.lock)), reference),
        *_lock_faults(lock, reference),
        *(f"half-written: {path} was left" for path in sorted(_partial(folder))),
        *cache_faults(folder / CACHE),
        *missing_from(folder / CACHE, folder, reference),
        *tracking_faults(folder),
    ]


def cache_faults(cache: Path) -> Iterator[str]:
    """The files of a cache, or of a remote, that are not what their names say."""
    for file in _files(cache):
        name = file.relative_to(cache).as_posix()
        if _LAID_DOWN.fullmatch(name):
            digest = hashlib.md5(file.read_bytes()).hexdigest()
            if digest != name.removesuffix(".dir").replace("/", ""):
                yield f"half-written: {cache.name}/{name} has the hash {digest}"


def missing_from(store: Path, folder: Path, reference: Reference) -> Iterator[str]:
    """Outputs that a cache or a remote could not bring back.

    Args:
        store: the cache or the remote.
        folder: has `dvc.lock`, and in its cache what folders hold.
        reference: says which outputs are cached.
    """
    held = {file.relative_to(store).as_posix().replace("/", "") for file in _files(store)}
    for path, digest in outputs(read_lock(folder)).items():
        if path not in reference.cached:
            continue
        needed = {digest}
        listing = folder / CACHE / digest[:2] / digest[2:]
        if digest.endswith(".dir") and listing.exists():
            needed |= {entry["md5"] for entry in json.loads(listing.read_text("utf-8"))}
        if needed - held:
            yield f"lost: {store.parts[-3]} lacks {len(needed - held)} files of {path}"


def tracking_faults(folder: Path) -> Iterator[str]:
    """A broken database of MLflow, or a run in it that has no end."""
    if not (folder / "mlflow.db").exists():
        return
    try:
        unended = _runs_without_end(folder / "mlflow.db")
    except sqlite3.DatabaseError as error:
        yield f"half-written: mlflow.db: {error}"
        return
    yield from (f"lost: the end of MLflow's run of {name}" for name in unended)


def _runs_without_end(database: Path) -> list[str]:
    """The names of unfinished trainings.

    Raises:
        sqlite3.DatabaseError: the database is broken.
    """
    with closing(sqlite3.connect(database, timeout=30)) as opened:
        if (said := opened.execute("PRAGMA integrity_check").fetchone()[0]) != "ok":
            raise sqlite3.DatabaseError(said)
        if not opened.execute("SELECT 1 FROM sqlite_master WHERE name = 'tags'").fetchall():
            return []  # its first writer was killed
        query = "SELECT name FROM tags JOIN runs USING (run_uuid) WHERE key = ? AND status = 'RUNNING'"
        return [name for (name,) in opened.execute(query, [CHILDREN])]


def _files_faults(found: dict[str, str], reference: Reference) -> Iterator[str]:
    expected = {
        file: digest
        for file, digest in reference.files.items()
        if not any(_inside(file, path) for path in reference.varying)
    }
    for path in reference.varying:
        if not any(_inside(file, path) for file in found):
            yield f"lost: {path}"
    for file in sorted({*expected, *found}):
        if file not in found:
            yield f"lost: {file}"
        elif file not in expected and not any(_inside(file, path) for path in reference.varying):
            yield f"half-written: {file} is not in an undisturbed run"
        elif file in expected and found[file] != expected[file]:
            yield f"different: {file}"


def _lock_faults(lock: dict[str, Any], reference: Reference) -> Iterator[str]:
    stages, expected = lock.get("stages") or {}, reference.lock["stages"]
    for name in sorted({*stages, *expected}):
        if name not in stages:
            yield f"lost: dvc.lock has no stage {name}"
        elif name not in expected:
            yield f"different: dvc.lock has a stage {name}"
        elif _comparable(stages[name], reference) != _comparable(expected[name], reference):
            yield f"different: dvc.lock, stage {name}"


def _comparable(stage: dict[str, Any], reference: Reference) -> dict[str, Any]:
    """What `dvc.lock` says of a stage, but for the hashes and sizes of what varies."""

    def varies(place: str) -> bool:
        return any(_inside(place, path) or _inside(path, place) for path in reference.varying)

    return stage | {
        kind: [entry for entry in stage.get(kind, []) if not varies(entry["path"])] for kind in ("deps", "outs")
    }


def _partial(folder: Path) -> set[str]:
    """What writers leave beside their targets or in them, wherever outputs may lie."""
    places = [place for place in folder.iterdir() if place.name not in _NOT_OURS]
    found = {path for place in places for path in (place, *place.rglob("*")) if ".partial" in path.name}
    return {str(path.relative_to(folder)) for path in found}


def _files(path: Path) -> list[Path]:
    return [path] if path.is_file() else sorted(file for file in path.rglob("*") if file.is_file())


def _inside(file: str, path: str) -> bool:
    return file == path or file.startswith(f"{path}/")
