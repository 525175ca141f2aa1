"""The two stages of a base of one's own.

`entries` writes what was brought as tables, with passages cut as the graph cuts them (kvqae.md §1). `base` makes
vectors of what is new, indexes, and what the scores mean; it is replaced as a whole:

    base.json                      settings and counts
    problems.csv                   what was left out, or is worth knowing
    articles, passages, pictures   tables, as stage `entries` wrote them
    bm25/                          Lucene's index
    pictures/ENCODER/              vectors.npy, rows.npy (the pictures they are of), codes.faiss where there are many
    texts/ENCODER.npy              a vector a passage
    calibration.json               route → calibration
"""

import hashlib
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pyarrow as pa

from trivium.core.atomic import write_atomically
from trivium.core.errors import BadInput
from trivium.core.matrices import read_matrix, write_matrix
from trivium.core.parameters import validate
from trivium.core.reading import LARGEST_IMAGE, open_file, refuse_other
from trivium.core.tables import read_json, read_table, write_csv, write_json, write_table
from trivium.kvqae.asking.encoding import (
    NO_FACE,
    Shown,
    Vectors,
    VectorStore,
    encode_passages,
    encode_pictures,
    forget_others,
)
from trivium.kvqae.asking.entries import Source, read_source
from trivium.kvqae.asking.models import BaseSettings, PictureModel, TextModel
from trivium.kvqae.asking.recognition import (
    MANY,
    ROWS,
    VECTORS,
    Pictured,
    PictureSearch,
    calibrate,
    write_codes,
)
from trivium.kvqae.knowledge_base.passages import cut_articles
from trivium.kvqae.retrieval.lucene import build_index
from trivium.vision.image_encoder import Route

ARTICLES, PASSAGES, SHOWN, PROBLEMS = "articles.parquet", "passages.parquet", "pictures.parquet", "problems.json"
_PICTURES = pa.schema([("article", pa.int64()), ("path", pa.string()), ("sha256", pa.string())])
BASE, LISTED, CALIBRATION, BM25 = "base.json", "problems.csv", "calibration.json", "bm25"
PROBLEM = ("kind", "place", "detail")
FLAWED = {
    "truncated": "its end is missing; what there is was taken",
    "broken_exif": "its EXIF block is broken: perhaps it is not upright",
}
VERSION = 1  # of this code and of a base's folder
VIEWS = 200  # pictures of which another view is drawn
ROWS_AT_A_TIME = 20_000  # vectors in memory while they are written


def gather(path: Path, words: int, out: Path) -> None:
    """Read a source, and write its tables into a folder; equal sources give equal files.

    Args:
        path: see `read_source`.
        words: most tokens of a passage.
        out: folder of articles, passages, pictures and problems; whole, or as it was.

    Raises:
        BadInput: see `read_source`.
    """
    source = read_source(path)
    pictures, numbers = list(_pictures(source)), list(range(len(source.entries)))
    columns = {name: [getattr(entry, name) for entry in source.entries] for name in ("title", "place")}
    texts = {"article": numbers, "text": [list(entry.paragraphs) for entry in source.entries]}
    cut = cut_articles(pa.RecordBatch.from_pydict(texts), words)
    passages = pa.Table.from_batches([cut]).add_column(0, "passage", pa.array(range(len(cut)), pa.int64()))
    with write_atomically(out) as beside:
        beside.mkdir()
        write_table(beside / ARTICLES, pa.table({"article": numbers, **columns}))
        write_table(beside / PASSAGES, passages.replace_schema_metadata({"kb_passages": str(len(cut))}))
        write_table(beside / SHOWN, pa.Table.from_pylist(pictures, schema=_PICTURES))
        write_json(beside / PROBLEMS, [vars(problem) for problem in source.problems])


def _pictures(source: Source) -> Iterator[dict[str, Any]]:
    """A row a picture, by the hash of its bytes; each once in an entry."""
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
            yield {"article": article, "path": str(path), "sha256": sha256}


def hash_of(path: Path) -> str:
    """sha256 of a file.

    Raises:
        BadInput: it cannot be opened, is empty or too large; a pointer of Git LFS or a page of HTML is in its place.
    """
    refuse_other(path)
    with open_file(path) as stream:
        size = path.stat().st_size
        if not 0 < size <= LARGEST_IMAGE:
            expected = f"a picture of at most {LARGEST_IMAGE} bytes"
            raise BadInput("file too large" if size else "file is empty", file=path, expected=expected)
        return hashlib.file_digest(stream, "sha256").hexdigest()


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
    table = read_table(entries / SHOWN)
    shown, owners = [Shown(row["sha256"], Path(row["path"])) for row in table.to_pylist()], table["article"].to_numpy()
    titles = read_table(entries / ARTICLES, ["title"])["title"]
    cut = read_table(entries / PASSAGES, ["article", "text"])
    passages = list(zip(titles.take(cut["article"]).to_pylist(), cut["text"].to_pylist(), strict=True))
    keys = [hashlib.sha256("\0".join(passage).encode()).hexdigest() for passage in passages]
    models: list[PictureModel | TextModel] = [*pictures, *texts]
    store_of = {model.digest: VectorStore(stores, model.digest) for model in models}
    encoded, vectors = dict[str, int](), dict[str, int]()
    with write_atomically(out) as beside:
        beside.mkdir()
        for name in (ARTICLES, PASSAGES, SHOWN):
            shutil.copyfile(entries / name, beside / name)
        for model in pictures:
            encoded[model.name] = encode_pictures(model, shown, store_of[model.digest], settings.limits)
            vectors[model.name] = _write_pictures(beside / "pictures" / model.name, shown, store_of[model.digest])
        for text_model in texts:
            store = store_of[text_model.digest]
            by_key = dict(zip(keys, passages, strict=True))
            encoded[text_model.name] = encode_passages(text_model, by_key, store, settings.text_tokens)
            _write_vectors(beside / "texts" / f"{text_model.name}.npy", keys, store)
            store.keep_only(keys)
        documents = ((number, " ".join(passage)) for number, passage in enumerate(passages))
        build_index(beside / BM25, documents, analyzer="english", threads=1, heap_gib=1)
        times = Counter(picture.key for picture in shown)
        eligible = np.array([times[picture.key] == 1 for picture in shown], bool)
        calibrations = {}
        for route in get_args(Route):
            own = [model for model in pictures if model.route == route]
            every = [read_pictured(beside, one.name, settings.image_encoders[one.name].weight) for one in own]
            if systems := [system for system in every if len(system.pictures)]:
                views = partial(_draw_views, shown=shown, models=own, store_of=store_of, limits=settings.limits)
                calibrations[route] = vars(calibrate(systems, owners, eligible, views))
        write_json(beside / CALIBRATION, calibrations)
        for model in pictures:
            store_of[model.digest].keep_only(times)
        blanks = store_of[pictures[0].digest].blanks() if pictures else {}
        whys = [(str(picture.path), blanks.get(picture.key, NO_FACE)) for picture in shown]
        broken = [{"kind": "broken_picture", "place": path, "detail": why} for path, why in whys if why != NO_FACE]
        flaws = store_of[pictures[0].digest].flaws() if pictures else {}
        flawed = [
            {"kind": flaw, "place": str(picture.path), "detail": FLAWED[flaw]}
            for picture in shown
            for flaw in flaws.get(picture.key, ())
        ]
        problems = read_json(entries / PROBLEMS) + broken + flawed
        write_csv(beside / LISTED, PROBLEM, problems)
        described = {
            "settings": settings.model_dump(mode="json"),
            "entries": len(titles),
            "passages": len(passages),
            "pictures": len(shown),
            "pictures_with_vector": vectors,
            "digests": {model.name: model.digest for model in models},
            "encoded_now": encoded,
            "counts": dict(Counter(problem["kind"] for problem in problems)),
        }
        write_json(beside / BASE, described)
    forget_others(stores, store_of)
    return described


def _write_pictures(folder: Path, shown: Sequence[Shown], store: VectorStore) -> int:
    """Write the vectors of the pictures that have one; returns how many."""
    blanks = store.blanks()
    rows = [row for row, picture in enumerate(shown) if picture.key not in blanks]
    _write_vectors(folder / VECTORS, [shown[row].key for row in rows], store)
    np.save(folder / ROWS, np.array(rows, np.int64))
    if len(rows) > MANY:
        write_codes(folder)
    return len(rows)


def _write_vectors(path: Path, keys: Sequence[str], store: VectorStore) -> None:
    with write_matrix(path, len(keys), store.take(keys[:1]).shape[1], np.float32) as matrix:
        for start in range(0, len(keys), ROWS_AT_A_TIME):
            matrix[start : start + ROWS_AT_A_TIME] = store.take(keys[start : start + ROWS_AT_A_TIME])


def read_pictured(base: Path, name: str, weight: float) -> Pictured:
    """One encoder's part of a base.

    Raises:
        BadInput: a file is missing or damaged.
    """
    folder = base / "pictures" / name
    pictures, owners = np.asarray(read_matrix(folder / ROWS)), read_table(base / SHOWN)["article"].to_numpy()
    return Pictured(name, weight, PictureSearch(folder), pictures, owners[pictures])


def _draw_views(
    rows: Sequence[int],
    shown: Sequence[Shown],
    models: Sequence[PictureModel],
    store_of: Mapping[str, VectorStore],
    limits: Mapping[str, int],
) -> dict[int, dict[str, Vectors]]:
    """Picture → encoder → vector of another view of it, of some of these pictures."""
    # By their hashes, so that new entries bring few new views.
    chosen = sorted(rows, key=lambda row: shown[row].key)[:VIEWS]
    views = {row: Shown(f"{shown[row].key}:view", shown[row].path) for row in chosen}
    vectors: dict[int, dict[str, Vectors]] = {row: {} for row in chosen}
    for model in models:
        store = store_of[model.digest]
        encode_pictures(model, list(views.values()), store, limits)
        blanks = store.blanks()
        for row, view in views.items():
            if view.key not in blanks:
                vectors[row][model.name] = store.take([view.key])[0]
    return vectors


def read_base(folder: Path) -> tuple[dict[str, Any], BaseSettings]:
    """What a base says of itself.

    Raises:
        BadInput: no base, or one of another version.
    """
    if not (folder / BASE).is_file():
        raise BadInput("no base", file=folder, expected="what `trivium kb FOLDER --out` writes")
    described = read_json(folder / BASE)
    if described["settings"]["version"] != VERSION:
        raise BadInput("a base of another version: make it again with `trivium kb`", file=folder / BASE)
    return described, validate(BaseSettings, described["settings"], "settings", folder / BASE)
