"""Checking that files are there, copying or linking them into an output, and keeping their digests."""

import errno
import os
import shutil
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from trivium.core.atomic import write_atomically
from trivium.core.errors import BadInput
from trivium.core.tables import read_json, write_json
from trivium.kvqae.rerankers.overlap_lists import IDENTITIES, read_entities
from trivium.sources.disk import sha256_of

FACE_MODEL = Path("arcface/model.onnx")  # below the base models
# InsightFace's w600k_r50.onnx, as many who load it state: the model that the hub gives, trained on WebFace600K.
WEBFACE = "4c06341c33c2ca1f86781dab0e829f88ad5b64be9fba56e56bc9ebdefc619e43"
PROVENANCE = "provenance.json"  # in a model's folder: where it is from and its licence


def require_files(folder: Path, names: Iterable[str]) -> None:
    """Raise `BadInput` unless every file is there; it lists all that are not."""
    names = list(names)
    missing = [name for name in names if not (folder / name).is_file()]
    if missing:
        raise BadInput("files are missing", file=folder, got=", ".join(missing), expected=", ".join(names))


def bring(source: Path, out: Path, names: Iterable[str]) -> None:
    """Copy files of the user's; a link would let DVC make them read-only."""
    for name in names:
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source / name, out / name)


def link(source: Path, out: Path, names: Iterable[str]) -> None:
    """Hard-link downloads, which nobody changes, where the disk allows it; else copy them."""
    for name in names:
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        # A link to a link would dangle when the downloads go: link what it points to.
        origin = (source / name).resolve()
        try:
            os.link(origin, out / name)
        except OSError as error:
            if error.errno not in {errno.EXDEV, errno.EPERM, errno.EMLINK, errno.ENOTSUP}:
                raise
            shutil.copyfile(origin, out / name)


def bring_models(models: Sequence[str], source: Path, out: Path, check: Callable[[str, Path], Any]) -> dict[str, Any]:
    """Bring the user's folders, one a model, and check them; `provenance.json` keeps the digests.

    Args:
        models: their names.
        source: the folder of their folders.
        out: the folder; complete or absent.
        check: checks a model, given its name and the folder that was brought; its results are returned by model.
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
            write_json(folder / PROVENANCE, origin | {"sha256": digests(source / model)})
    return results


def bring_identities(source: Path, out: Path) -> dict[str, float]:
    """Check and bring ArcFace's overlap list, where the user's folder has one; returns `identities_listed`.

    Args:
        source: the user's folder.
        out: the base models, with the face model.

    Raises:
        BadInput: the face model is not the user's own, or is the one trained on WebFace600K, whose identities nobody
            has listed; see `read_entities`.
    """
    if not (source / IDENTITIES).is_file():
        return {}
    if not (source / FACE_MODEL).parent.is_dir() or sha256_of(out / FACE_MODEL) == WEBFACE:
        raise BadInput(
            "this list does not say whom the face model was trained on", file=source / IDENTITIES,
            got="w600k_r50, trained on WebFace600K",
            expected=f"the model whose training set the list names, in {(source / FACE_MODEL).parent}",
        )  # fmt: skip
    listed = read_entities(source / IDENTITIES)
    bring(source, out, [str(IDENTITIES)])
    return {"identities_listed": float(len(listed))}


def digests(folder: Path) -> dict[str, str]:
    """SHA-256 of each file below a folder, by its path there."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): sha256_of(path) for path in files}
