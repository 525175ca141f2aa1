"""Make a user's own base: passages cut as in the graph (kvqae.md §1), vectors of new items, indexes.

A base is a folder that is replaced as a whole:

    base.json, problems.csv        settings and counts; what was left out or is noteworthy
    articles, passages, pictures   tables
    bm25/                          Lucene's index
    pictures/ENCODER/              vectors.npy, rows.npy (picture of each vector)
    texts/ENCODER.npy              a vector a passage
    calibration.json               route → calibration
"""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pyarrow as pa

from trivium.core.atomic import write_folder
from trivium.core.errors import BadInput
from trivium.core.matrices import read_matrix, write_matrix
from trivium.core.parameters import validate
from trivium.core.reading import LARGEST_IMAGE, read_bytes, refuse_other
from trivium.core.tables import read_json, read_table, write_csv, write_json, write_table
from trivium.kvqae.asking import encoding
from trivium.kvqae.asking.encoding import NO_FACE, Shown, Vectors, VectorStore
from trivium.kvqae.asking.entries import Source
from trivium.kvqae.asking.models import BaseSettings, Model
from trivium.kvqae.asking.recognition import Pictured, calibrate
from trivium.kvqae.knowledge_base.passages import cut_articles
from trivium.kvqae.retrieval.bm25 import build_index
from trivium.vision.image_encoder import Route

ARTICLES, PASSAGES, SHOWN = "articles.parquet", "passages.parquet", "pictures.parquet"
VECTORS, ROWS = "vectors.npy", "rows.npy"
_PICTURES = pa.schema([("article", pa.int64()), ("path", pa.string()), ("sha256", pa.string())])
DESCRIBED, LISTED, CALIBRATION, BM25 = "base.json", "problems.csv", "calibration.json", "bm25"
FLAWED = {
    "truncated": "its end is missing; the part before it was used",
    "broken_exif": "its EXIF block is broken: perhaps it is not upright",
}
VERSION = 2  # version of this code and of a base's folder
VIEWS = 200  # most pictures of which another view is drawn
ROWS_AT_A_TIME = 20_000  # vectors in memory while they are written


def _list_pictures(source: Source) -> Iterator[tuple[int, Shown]]:
    """Yield (number of the entry, picture); each picture, by the hash of its bytes, once for an entry."""
    owner: dict[str, int] = {}
    for article, entry in enumerate(source.entries):
        own: set[str] = set()
        for path in entry.pictures:
            try:
                sha256 = hash_of(path)
            except (BadInput, OSError) as error:
                source.note("unreadable_picture", path, str(error))
                continue
            if sha256 in own:
                source.note("duplicate", path, f"a picture that {entry.place} has already")
                continue
            own.add(sha256)
            if owner.setdefault(sha256, article) != article:
                source.note("shared_picture", path, f"with {source.entries[owner[sha256]].place}")
            yield article, Shown(sha256, path)


def hash_of(path: Path) -> str:
    """Compute the SHA-256 of a file.

    Raises:
        BadInput: it cannot be opened, is empty or too large, or is a pointer of Git LFS or an HTML page.
    """
    refuse_other(path)
    if not (data := read_bytes(path, LARGEST_IMAGE)):
        raise BadInput("file is empty", file=path)
    return hashlib.sha256(data).hexdigest()


def build(
    settings: BaseSettings,
    source: Source,
    out: Path,
    stores: Path,
    pictures: Sequence[Model],
    texts: Sequence[Model],
) -> dict[str, Any]:
    """Make a base from a source, complete or not at all; returns the content of `base.json`.

    Only items without a vector in the folder `stores` are encoded. Problems with pictures are added to the source's.

    Raises:
        BadInput: an encoder cannot be loaded, or an embedding has NaN.
    """
    listed = list(_list_pictures(source))
    shown, owners = [picture for _, picture in listed], np.array([article for article, _ in listed], np.int64)
    numbers = range(len(source.entries))
    articles = pa.table(
        {"article": numbers} | {name: [getattr(one, name) for one in source.entries] for name in ("title", "place")}
    )
    paragraphs = {"article": numbers, "text": [list(entry.paragraphs) for entry in source.entries]}
    cut = pa.Table.from_batches([cut_articles(pa.RecordBatch.from_pydict(paragraphs), settings.words)])
    cut = cut.add_column(0, "passage", pa.array(range(len(cut)), pa.int64()))
    titles = articles["title"].take(cut["article"])
    passages = list(zip(titles.to_pylist(), cut["text"].to_pylist(), strict=True))
    keys = [hashlib.sha256("\0".join(passage).encode()).hexdigest() for passage in passages]
    by_key = dict(zip(keys, passages, strict=True))
    models = [*pictures, *texts]
    store_of = {model.digest: VectorStore(stores, model.digest) for model in models}
    encoded, vectors = dict[str, int](), dict[str, int]()
    with write_folder(out) as draft:
        write_table(draft / ARTICLES, articles)
        write_table(draft / PASSAGES, cut.replace_schema_metadata({"kb_passages": str(len(cut))}))
        paths, hashes = [str(picture.path) for picture in shown], [picture.key for picture in shown]
        write_table(draft / SHOWN, pa.table([owners, paths, hashes], schema=_PICTURES))
        for model in pictures:
            store = store_of[model.digest]
            encoded[model.name] = encoding.encode_pictures(model, shown, store)
            blanks = store.remarks(has_vector=False)
            rows = np.array([row for row, key in enumerate(hashes) if key not in blanks], np.int64)
            _write_vectors(draft / "pictures" / model.name / VECTORS, [hashes[row] for row in rows], store)
            np.save(draft / "pictures" / model.name / ROWS, rows)
            vectors[model.name] = len(rows)
        for model in texts:
            store = store_of[model.digest]
            encoded[model.name] = encoding.encode_passages(model, by_key, store, settings.text_tokens)
            _write_vectors(draft / "texts" / f"{model.name}.npy", keys, store)
        documents = ((number, " ".join(passage)) for number, passage in enumerate(passages))
        build_index(draft / BM25, documents, analyzer="english", threads=1, heap_gib=1)
        times = Counter(hashes)
        eligible = np.array([times[key] == 1 for key in hashes], bool)
        calibrations = {}
        for route in get_args(Route):
            own = [model for model in pictures if model.route == route]
            every = [read_pictured(draft, one.name, settings.image_encoders[one.name].weight) for one in own]
            if systems := [system for system in every if len(system.pictures)]:
                views = partial(_draw_views, shown=shown, models=own, store_of=store_of)
                calibrations[route] = vars(calibrate(systems, owners, eligible, views))
        write_json(draft / CALIBRATION, calibrations)
        if pictures:
            _note_flaws(source, shown, store_of[pictures[0].digest])
        write_csv(draft / LISTED, ("kind", "place", "detail"), map(vars, source.problems))
        described = {
            "settings": settings.model_dump(mode="json"),
            "entries": len(source.entries),
            "passages": len(passages),
            "pictures": len(shown),
            "pictures_with_vector": vectors,
            "digests": {model.name: model.digest for model in models},
            "encoded_now": encoded,
            "counts": dict(Counter(problem.kind for problem in source.problems)),
        }
        write_json(draft / DESCRIBED, described)
    kept = {model.digest: set(hashes) for model in pictures} | {model.digest: set(keys) for model in texts}
    encoding.keep_only(stores, kept)
    return described


def _note_flaws(source: Source, shown: Sequence[Shown], store: VectorStore) -> None:
    """Note pictures without vector, unless they only lack a face; then those with a vector in spite of a flaw."""
    blanks, flaws = (store.remarks(has_vector=has_vector) for has_vector in (False, True))
    for picture in shown:
        if (why := blanks.get(picture.key, NO_FACE)) != NO_FACE:
            source.note("broken_picture", picture.path, why)
    for picture in shown:
        for flaw in flaws.get(picture.key, "").split():
            source.note(flaw, picture.path, FLAWED[flaw])


def _write_vectors(path: Path, keys: Sequence[str], store: VectorStore) -> None:
    with write_matrix(path, len(keys), store.take(keys[:1]).shape[1], np.float32) as matrix:
        for start in range(0, len(keys), ROWS_AT_A_TIME):
            matrix[start : start + ROWS_AT_A_TIME] = store.take(keys[start : start + ROWS_AT_A_TIME])


def read_pictured(base: Path, name: str, weight: float) -> Pictured:
    """Read one encoder's part of a base."""
    folder = base / "pictures" / name
    pictures, owners = np.asarray(read_matrix(folder / ROWS)), read_table(base / SHOWN)["article"].to_numpy()
    return Pictured(name, weight, read_matrix(folder / VECTORS), pictures, owners[pictures])


def _draw_views(
    rows: Sequence[int], shown: Sequence[Shown], models: Sequence[Model], store_of: Mapping[str, VectorStore]
) -> dict[int, dict[str, Vectors]]:
    """Draw other views of some of these pictures; returns picture → encoder → vector of its view."""
    # Chosen by hash, so that new entries change few of the chosen.
    chosen = sorted(rows, key=lambda row: shown[row].key)[:VIEWS]
    views = {row: Shown(f"{shown[row].key}:view", shown[row].path) for row in chosen}
    vectors: dict[int, dict[str, Vectors]] = {row: {} for row in chosen}
    for model in models:
        store = store_of[model.digest]
        encoding.encode_pictures(model, list(views.values()), store)
        blanks = store.remarks(has_vector=False)
        for row, view in views.items():
            if view.key not in blanks:
                vectors[row][model.name] = store.take([view.key])[0]
    return vectors


def read_base(folder: Path) -> tuple[dict[str, Any], BaseSettings]:
    """Read a base's description and settings; `BadInput`: no base, or one of another version."""
    path = folder / DESCRIBED
    if not path.is_file():
        raise BadInput("no base", file=folder, expected="what `trivium kb FOLDER --out` writes")
    described = read_json(path)
    if described["settings"]["version"] != VERSION:
        raise BadInput("a base of another version: make it again with `trivium kb FOLDER --out`", file=path)
    return described, validate(BaseSettings, described["settings"], "settings", path)
