"""`trivium ask --entries`: what somebody else's search says that pictures show, in place of looking at them.

A CSV with `image`, `entry` and `score`: of each picture the titles of entries that it may show. Or a folder with
embeddings: `pictures.npy` with `pictures.jsonl`, and `entries.npy` with `entries.jsonl`, whose line n has the `id` of
row n, a picture's name or an entry's title; an entry may have several rows. Their cosines are the scores then.
"""

from collections.abc import Mapping
from pathlib import Path, PureWindowsPath

import numpy as np

from trivium.core.errors import BadInput
from trivium.core.folding import fold
from trivium.core.matrices import check_finite, read_matrix
from trivium.core.tables import read_csv_records, read_json_lines
from trivium.formats.pictures import is_picture

Given = Mapping[str, Mapping[str, float]]  # picture, see `key_of_picture` → title → score
DEPTH = 100  # entries of a picture that embeddings give


def key_of_picture(name: str) -> str:
    """A picture's name as it is compared: without folders and suffix."""
    path = PureWindowsPath(name)  # which takes slashes of both kinds
    return fold(path.stem if is_picture(Path(path.name)) else path.name)


def read_entries(path: Path) -> Given:
    """Read a table or a folder, see above.

    Raises:
        BadInput: neither, a column or file is missing, a score that is no number, or rows that do not fit.
    """
    if path.is_dir():
        return _from_embeddings(path)
    given: dict[str, dict[str, float]] = {}
    for row, cells in read_csv_records(path, ("image", "entry", "score")):
        try:
            score = float(cells["score"])
        except ValueError:
            score = np.nan
        if not np.isfinite(score):
            raise BadInput("not a number", file=path, row=row, field="score", got=cells["score"])
        scores = given.setdefault(key_of_picture(cells["image"].strip()), {})
        title = cells["entry"].strip()
        scores[title] = max(score, scores.get(title, score))
    if not given:
        raise BadInput("no search results", file=path)
    return given


def _from_embeddings(folder: Path) -> Given:
    names, pictures = _read(folder, "pictures")
    titles, entries = _read(folder, "entries")
    if pictures.shape[1] != entries.shape[1]:
        raise BadInput("embeddings of another width", file=folder / "pictures.npy", got=pictures.shape[1],
                       expected=f"{entries.shape[1]}, as in entries.npy")  # fmt: skip
    given: dict[str, dict[str, float]] = {}
    for name, vector in zip(names, pictures, strict=True):
        cosines = entries @ vector
        scores = given.setdefault(key_of_picture(name), {})
        for row in np.argsort(-cosines, kind="stable")[:DEPTH].tolist():
            scores.setdefault(titles[row], float(cosines[row]))  # the best of an entry's pictures comes first
    return given


def _read(folder: Path, part: str) -> tuple[list[str], np.ndarray]:
    """Names, and vectors of length 1, (names, width)."""
    file = folder / f"{part}.npy"
    matrix = np.asarray(read_matrix(file), np.float32)
    names: list[str] = []
    for row, record in read_json_lines(file.with_suffix(".jsonl")):
        if not isinstance(record.get("id"), str):
            raise BadInput("not a text", file=file.with_suffix(".jsonl"), row=row, field="id", got=record.get("id"))
        names.append(record["id"])
    if matrix.ndim != 2 or len(matrix) != len(names):
        raise BadInput("not a row a name", file=file, got=matrix.shape, expected=f"({len(names)}, width)")
    check_finite(matrix, file)
    return names, matrix / np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), np.finfo(np.float32).tiny)
