"""Stage `base` of a base: vectors of what is new, indexes, and what the scores mean; it is replaced as a whole.

Folder of a base:

    base.json                      settings and counts
    problems.csv                   what was left out, or is worth knowing
    articles, passages, pictures   tables, as stage `entries` wrote them
    bm25/                          Lucene's index
    pictures/ENCODER/              vectors.npy, rows.npy (the pictures they are of), codes.faiss where there are many
    texts/ENCODER.npy              a vector a passage
    calibration.json               route → calibration
"""

import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

import numpy as np

from trivium.core.atomic import write_atomically
from trivium.core.csv_tables import write_csv
from trivium.core.errors import BadInput
from trivium.core.matrices import read_matrix, write_matrix
from trivium.core.parameters import validate
from trivium.core.tables import read_json, read_table, write_json
from trivium.kvqae.asking.encoding import NO_FACE, Shown, encode_passages, encode_pictures, unit
from trivium.kvqae.asking.gathering import ARTICLES, PASSAGES, PROBLEMS, SHOWN, passage_keys
from trivium.kvqae.asking.models import BaseSettings, PictureModel, TextModel
from trivium.kvqae.asking.picture_search import MANY, ROWS, VECTORS, PictureSearch, write_codes
from trivium.kvqae.asking.recognition import FEWEST_PAIRS, Calibration, Pictured, calibrated
from trivium.kvqae.asking.vector_store import Vectors, VectorStore
from trivium.kvqae.retrieval.lucene import build_index
from trivium.vision.image_encoder import Route

BASE, LISTED, CALIBRATION, BM25 = "base.json", "problems.csv", "calibration.json", "bm25"
PROBLEM = ("kind", "place", "detail")
VERSION = 1  # of this code and of a base's folder
VIEWS = 200  # pictures of which another view is drawn
ROWS_AT_A_TIME = 20_000  # vectors in memory while they are written


def build(
    settings: BaseSettings,
    entries: Path,
    out: Path,
    stores: Path,
    pictures: Sequence[PictureModel],
    texts: Sequence[TextModel],
) -> dict[str, Any]:
    """Make a base of what stage `entries` wrote; only what no store holds is encoded.

    Args:
        settings: of the base.
        entries: folder of tables.
        out: the base, whole, or as it was.
        stores: folder of vectors, see `VectorStore`.
        pictures, texts: encoders.

    Returns:
        What `base.json` says.

    Raises:
        BadInput: an encoder cannot be loaded, or gave NaN.
    """
    with write_atomically(out) as beside:
        beside.mkdir()
        for name in (ARTICLES, PASSAGES, SHOWN):
            shutil.copyfile(entries / name, beside / name)
        encoded: dict[str, int] = {}
        problems = read_json(entries / PROBLEMS)
        for model in pictures:
            store = VectorStore(stores, model.digest)
            encoded[model.name] = encode_pictures(model, _shown(beside), store, _limits(settings))
            _write_pictures(beside, model.name, store)
        problems += _broken(beside, VectorStore(stores, pictures[0].digest))
        titles, passages, keys = passage_keys(beside)
        for each in texts:
            store = VectorStore(stores, each.digest)
            encoded[each.name] = encode_passages(each, titles, passages, keys, store, settings.text_tokens)
            _write_vectors(beside / "texts" / f"{each.name}.npy", keys, store)
            store.keep_only(keys)
        documents = ((row, f"{title} {text}") for row, (title, text) in enumerate(zip(titles, passages, strict=True)))
        build_index(beside / BM25, documents, analyzer="english", threads=1, heap_gib=1)
        calibrations, views = _calibrate(settings, beside, pictures, stores)
        write_json(beside / CALIBRATION, {route: each.as_json() for route, each in calibrations.items()})
        shown = set(read_table(beside / SHOWN, ["sha256"])["sha256"].to_pylist())
        for model in pictures:
            VectorStore(stores, model.digest).keep_only([*shown, *views])
        lines = [[problem[name] for name in PROBLEM] for problem in problems]
        write_csv(beside / LISTED, PROBLEM, lines)
        described = _described(settings, beside, problems, encoded, pictures, texts)
        write_json(beside / BASE, described)
    _forget_others(stores, {each.digest for each in pictures} | {each.digest for each in texts})
    return described


def _shown(base: Path) -> list[Shown]:
    table = read_table(base / SHOWN, ["sha256", "path"])
    return [Shown(row["sha256"], Path(row["path"])) for row in table.to_pylist()]


def _limits(settings: BaseSettings) -> dict[str, int]:
    return {"max_side": settings.max_side, "max_pixels": settings.max_pixels}


def _write_pictures(base: Path, name: str, store: VectorStore) -> None:
    folder, keys = base / "pictures" / name, [each.key for each in _shown(base)]
    rows = [row for row, key in enumerate(keys) if store.blank(key) is None]
    _write_vectors(folder / VECTORS, [keys[row] for row in rows], store, normalised=True)
    np.save(folder / ROWS, np.array(rows, np.int64))
    if len(rows) > MANY:
        write_codes(folder)


def _write_vectors(path: Path, keys: Sequence[str], store: VectorStore, *, normalised: bool = False) -> None:
    with write_matrix(path, len(keys), store.width, np.float32) as matrix:
        for start in range(0, len(keys), ROWS_AT_A_TIME):
            vectors = store.take(keys[start : start + ROWS_AT_A_TIME])
            matrix[start : start + ROWS_AT_A_TIME] = unit(vectors) if normalised else vectors


def _broken(base: Path, store: VectorStore) -> list[dict[str, str]]:
    """Pictures that cannot be decoded."""
    whys = ((each.path, store.blank(each.key)) for each in _shown(base))
    return [
        {"kind": "broken_picture", "place": str(path), "detail": why} for path, why in whys if why and why != NO_FACE
    ]


def read_pictured(base: Path, name: str, route: Route, weight: float) -> Pictured:
    """One encoder's part of a base.

    Raises:
        BadInput: a file is missing or damaged, or the rows are not those of the vectors.
    """
    folder = base / "pictures" / name
    pictures, search = np.asarray(read_matrix(folder / ROWS)), PictureSearch(folder)
    owners = read_table(base / SHOWN, ["article"])["article"].to_numpy()
    fit = pictures.dtype == np.int64 and pictures.shape == (len(search),)
    if not fit or not ((pictures >= 0) & (pictures < len(owners))).all():
        expected = f"{len(search)} whole numbers below {len(owners)}"
        raise BadInput("not the rows of the vectors", file=folder / ROWS, got=pictures.tolist(), expected=expected)
    return Pictured(name, route, weight, search, pictures, owners[pictures])


def _calibrate(
    settings: BaseSettings, base: Path, models: Sequence[PictureModel], stores: Path
) -> tuple[dict[Route, Calibration], list[str]]:
    """Route → what its scores mean; and the keys of the views that were drawn for it."""
    table = read_table(base / SHOWN)
    owners, hashes = table["article"].to_numpy(), table["sha256"].to_pylist()
    paths = table["path"].to_pylist()
    times = Counter(hashes)
    eligible = np.array([times[each] == 1 for each in hashes], bool)
    found: dict[Route, Calibration] = {}
    keys: list[str] = []
    for route in get_args(Route):
        own = [model for model in models if model.route == route]
        systems = [read_pictured(base, each.name, route, settings.image_encoders[each.name].weight) for each in own]
        there = [each for each in systems if len(each.search)]
        if not there:
            continue
        views: dict[str, Mapping[int, Vectors]] = {}
        own_pictures = np.unique(np.concatenate([each.pictures for each in there]))
        asked = own_pictures[eligible[own_pictures]]
        counts = np.bincount(owners[asked], minlength=1)
        if (counts[owners[asked]] > 1).sum() < FEWEST_PAIRS:
            # By their hashes, so that new entries bring few new views.
            drawn = sorted(asked.tolist(), key=lambda row: hashes[row])[:VIEWS]
            shown = [Shown(f"{hashes[row]}:view", Path(paths[row]), view=True) for row in drawn]
            keys += [each.key for each in shown]
            for model in own:
                store = VectorStore(stores, model.digest)
                encode_pictures(model, shown, store, _limits(settings))
                vectors = unit(store.take([each.key for each in shown]))
                views[model.name] = {
                    row: vector
                    for row, vector, each in zip(drawn, vectors, shown, strict=True)
                    if store.blank(each.key) is None
                }
        found[route] = calibrated(there, owners, eligible, views)
    return found, keys


def _described(
    settings: BaseSettings,
    base: Path,
    problems: list[dict[str, str]],
    encoded: Mapping[str, int],
    pictures: Sequence[PictureModel],
    texts: Sequence[TextModel],
) -> dict[str, Any]:
    return {
        "settings": settings.model_dump(mode="json"),
        "entries": len(read_table(base / ARTICLES, ["article"])),
        "passages": len(read_table(base / PASSAGES, ["article"])),
        "pictures": len(read_table(base / SHOWN, ["article"])),
        "pictures_with_vector": {
            model.name: len(np.load(base / "pictures" / model.name / ROWS, allow_pickle=False)) for model in pictures
        },
        "digests": {each.name: each.digest for each in pictures} | {each.name: each.digest for each in texts},
        "encoded_now": dict(encoded),
        "counts": dict(Counter(problem["kind"] for problem in problems)),
    }


def _forget_others(stores: Path, digests: set[str]) -> None:
    """Remove the vectors of encoders that the base uses no more."""
    for folder in stores.iterdir() if stores.is_dir() else ():
        if folder.is_dir() and folder.name not in digests:
            shutil.rmtree(folder)


def read_base(folder: Path) -> tuple[dict[str, Any], BaseSettings]:
    """What a base says of itself.

    Raises:
        BadInput: no base, or one of another version.
    """
    if not (folder / BASE).is_file():
        raise BadInput("no base", file=folder, expected="what `trivium kb FOLDER --out` writes")
    described = read_json(folder / BASE)
    settings = described.get("settings") if isinstance(described, dict) else None
    if not isinstance(settings, dict) or settings.get("version") != VERSION:
        raise BadInput("a base of another version: make it again with `trivium kb`", file=folder / BASE)
    return described, validate(BaseSettings, settings, "settings", folder / BASE)
