"""Check, copy, hash and read files that users bring or that are downloaded; check that the disk has room for them."""

import hashlib
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from trivium.core.atomic import write_atomically
from trivium.core.errors import BadInput
from trivium.core.tables import read_batches, read_json, read_json_lines, write_json

PROVENANCE = "provenance.json"  # in a model's folder: where it is from and its licence


def sha256_of(path: Path) -> str:
    """Digest of a file, read in chunks."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def hash_files(folder: Path) -> dict[str, str]:
    """SHA-256 of each file below a folder, by its path there."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): sha256_of(path) for path in files}


def free_space(folder: Path) -> int:
    """Bytes free on the disk where `folder` is, or will be."""
    existing = next(parent for parent in (folder.absolute(), *folder.absolute().parents) if parent.exists())
    return shutil.disk_usage(existing).free


def require_space(folder: Path, needed: int, purpose: str) -> None:
    """Raise `BadInput` where the disk has fewer than `needed` bytes free."""
    if needed > (free := free_space(folder)):
        got, expected = f"{free / 1e9:.1f} GB free", f"{needed / 1e9:.1f} GB"
        raise BadInput(f"not enough disk for {purpose}", file=folder, got=got, expected=expected)


def require_files(folder: Path, names: Iterable[str]) -> None:
    """Raise `BadInput` unless every file is there; it lists all that are not."""
    names = list(names)
    missing = [name for name in names if not (folder / name).is_file()]
    if missing:
        raise BadInput("files are missing", file=folder, got=", ".join(missing), expected=", ".join(names))


def bring(source: Path, out: Path, names: Iterable[str]) -> None:
    """Copy the user's files, which DVC would make read-only if they were linked."""
    for name in names:
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source / name, out / name)


def link(source: Path, out: Path, names: Iterable[str]) -> None:
    """Hard-link downloads, which nobody changes, where the disk allows it; else copy them."""
    for name in names:
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        # A link to a symbolic link would break when the downloads are removed: link the file itself.
        origin = (source / name).resolve()
        try:
            os.link(origin, out / name)
        except OSError:  # another disk, or one without links
            shutil.copyfile(origin, out / name)


def bring_models(models: Sequence[str], source: Path, out: Path, check: Callable[[str, Path], Any]) -> dict[str, Any]:
    """Copy the user's folders, one a model, and check them; `provenance.json` keeps the digests.

    `check` is called with a model's name and the copied folder; its results are returned by model.
    """
    results = {}
    with write_atomically(out) as temporary:
        for model in models:
            if not (source / model).is_dir():
                raise BadInput("no folder of this model", file=source, field=model, expected=str(source / model))
            folder = temporary / model
            bring(source / model, folder, (path.name for path in (source / model).iterdir() if path.is_file()))
            results[model] = check(model, folder)
            stated = read_json(folder / PROVENANCE) if (folder / PROVENANCE).exists() else {}
            origin = {"from": f"the user's {model}", "licence": "other"} | stated
            write_json(folder / PROVENANCE, origin | {"sha256": hash_files(source / model)})
    return results


def read_records(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Stream (row from 1, record) from JSON lines, plain or gzipped, or Parquet, as the suffix says."""
    if path.name.endswith((".jsonl", ".json", ".jsonl.gz", ".json.gz")):
        yield from read_json_lines(path)
    elif path.suffix == ".parquet":
        try:
            records = (record for batch in read_batches(path, 65536) for record in batch.to_pylist())
            yield from enumerate(records, 1)
        except (OSError, pa.ArrowException, UnicodeDecodeError) as error:
            raise BadInput(f"broken file: {error}", file=path) from None
    else:
        raise BadInput("unknown kind of file", file=path, choices=(".jsonl", ".jsonl.gz", ".parquet"))
