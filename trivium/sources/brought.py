"""Files that a user brings: all there, taken without doubling them, their digests kept."""

import errno
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from trivium.errors import BadInput
from trivium.kvqae.rerankers.overlap_lists import IDENTITIES, read_entities
from trivium.sources.disk import sha256_of

PROVENANCE = "provenance.json"  # in a model's folder: where it is from and its licence


def require_files(folder: Path, names: Iterable[str]) -> None:
    """Every file is there; `BadInput` lists all that are not."""
    names = list(names)
    missing = [name for name in names if not (folder / name).is_file()]
    if missing:
        raise BadInput("files are missing", file=folder, got=", ".join(missing), expected=", ".join(names))


def bring(source: Path, out: Path, names: Iterable[str]) -> None:
    """Hard-link files where the disk allows it (nothing here changes them), else copy them."""
    for name in names:
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        # A link to a link would dangle when the user's folder moves: link what it points to.
        origin = (source / name).resolve()
        try:
            os.link(origin, out / name)
        except OSError as error:
            if error.errno not in {errno.EXDEV, errno.EPERM, errno.EMLINK, errno.ENOTSUP}:
                raise
            shutil.copyfile(origin, out / name)


def bring_identities(source: Path, out: Path) -> dict[str, float]:
    """Check and bring ArcFace's overlap list, where the user's folder has one.

    Returns:
        `identities_listed`, without a list nothing: unknown is not nobody.

    Raises:
        BadInput: see `read_entities`.
    """
    if not (source / IDENTITIES).is_file():
        return {}
    listed = read_entities(source / IDENTITIES)
    bring(source, out, [str(IDENTITIES)])
    return {"identities_listed": float(len(listed))}


def digests(folder: Path) -> dict[str, str]:
    """SHA-256 of each file below a folder, by its path there."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): sha256_of(path) for path in files}
