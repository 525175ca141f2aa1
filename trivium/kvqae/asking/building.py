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
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pyarrow as pa

from trivium.core.atomic import remove, write_folder
from trivium.core.errors import BadInput
from trivium.core.matrices import read_matrix
from trivium.core.parameters import validate
from trivium.core.reading import LARGEST_IMAGE, read_bytes, refuse_other
from trivium.core.tables import read_json, read_table, write_csv, write_json, write_table
from trivium.kvqae.asking import encoding
from trivium.kvqae.asking.encoding import NO_FACE, VERSION, BaseSettings, Model, Shown, Vectors, VectorStore
from trivium.kvqae.asking.entries import Source
from trivium.kvqae.asking.recognition import Pictured, calibrate
from trivium.kvqae.knowledge_base.passage_texts import ARTICLES, PASSAGES
from trivium.kvqae.knowledge_base.passages import cut_articles
from trivium.kvqae.retrieval.bm25 import build_index
from trivium.vision.image_encoder import Route

SHOWN = "pictures.parquet"
VECTORS, ROWS = "vectors.npy", "rows.npy"
_PICTURES = pa.schema([("article", pa.int64()), ("path", pa.string()), ("sha256", pa.string())])
DESCRIBED, LISTED, CALIBRATION, BM25 = "base.json", "problems.csv", "calibration.json", "bm25"
FLAWED = {
    "truncated": "its end is missing; the part before it was used",
    "broken_exif": "its EXIF block is broken: perhaps it is not upright",
}
VIEWS = 200  # most pictures of which another view is drawn


def _list_pictures(source: Source) -> tuple[list[Shown], list[int]]:
    """List pictures and the numbers of their entries; each picture, by the hash of its bytes, once for an entry."""
    owner, shown = dict[str, int](), dict[tuple[int, str], Shown]()
    for article, entry in enumerate(source.entries):
        for path in entry.pictures:
            try:
                sha256 = hash_of(path)
            except (BadInput, OSError) as error:
                source.note("unreadable_picture", path, str(error))
                continue
            if (article, sha256) in shown:
                source.note("duplicate", path, f"a picture that {entry.place} has already")
                continue
            if owner.setdefault(sha256, article) != article:
                source.note("shared_picture", path, f"with {source.entries[owner[sha256]].place}")
            shown[article, sha256] = Shown(sha256, path)
    return list(shown.values()), [article for article, _ in shown]


def hash_of(path: Path) -> str:
    """Compute the SHA-256 of a file; `BadInput`: it cannot be read, is too large, or something else in its place."""
    refuse_other(path)
    return hashlib.sha256(read_bytes(path, LARGEST_IMAGE)).hexdigest()


def build(
    settings: BaseSettings, source: Source, out: Path, stores: Path, pictures: Sequence[Model], texts: Sequence[Model]
) -> dict[str, Any]:
    """Make a base from a source, complete or not at all; returns the content of `base.json`.

    Only items without a vector in the folder `stores` are encoded. Problems with pictures are added to the source's.

    Raises:
        BadInput: an encoder cannot be loaded, or an embedding has NaN.
    """
    shown, entries = _list_pictures(source)
    owners, hashes, numbers = np.array(entries, np.int64), [one.key for one in shown], range(len(source.entries))
    articles = pa.table({"article": numbers, "title": [entry.title for entry in source.entries]})
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
        paths = [str(picture.path) for picture in shown]
        write_table(draft / SHOWN, pa.table([owners, paths, hashes], schema=_PICTURES))
        for model in pictures:
            store, folder = store_of[model.digest], draft / "pictures" / model.name
            encoded[model.name] = encoding.encode_pictures(model, shown, store)
            rows = np.array([row for row, key in enumerate(hashes) if store.stored[key][0] is not None], np.int64)
            folder.mkdir(parents=True)
            np.save(folder / VECTORS, store.take([hashes[row] for row in rows]))
            np.save(folder / ROWS, rows)
            vectors[model.name] = len(rows)
        for model in texts:
            store = store_of[model.digest]
            encoded[model.name] = encoding.encode_passages(model, by_key, store)
            (draft / "texts").mkdir(exist_ok=True)
            np.save(draft / "texts" / f"{model.name}.npy", store.take(keys))
        documents = ((number, " ".join(passage)) for number, passage in enumerate(passages))
        build_index(draft / BM25, documents, analyzer="english", threads=1, heap_gib=1)
        times = Counter(hashes)
        eligible = np.array([times[key] == 1 for key in hashes], bool)
        calibrations = {}
        for route in get_args(Route):
            own = [model for model in pictures if model.route == route]
            every = [read_pictured(draft, model.name) for model in own]
            if systems := [system for system in every if len(system.pictures)]:
                views = partial(_draw_views, shown=shown, models=own, store_of=store_of)
                calibrations[route] = vars(calibrate(systems, owners, eligible, views))
        write_json(draft / CALIBRATION, calibrations)
        for picture in shown if pictures else ():
            vector, remark = store_of[pictures[0].digest].stored[picture.key]
            if vector is None and remark != NO_FACE:
                source.note("broken_picture", picture.path, str(remark))
            for flaw in (remark or "").split() if vector is not None else ():
                source.note(flaw, picture.path, FLAWED[flaw])
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
    for place in stores.iterdir() if stores.is_dir() else ():  # of other encoders
        if place.name not in store_of:
            remove(place)
    for model in models:
        store_of[model.digest].keep_only(set(hashes if model in pictures else keys))
    return described


def read_pictured(base: Path, name: str) -> Pictured:
    """Read one encoder's part of a base."""
    folder = base / "pictures" / name
    pictures, owners = np.asarray(read_matrix(folder / ROWS)), read_table(base / SHOWN)["article"].to_numpy()
    return Pictured(name, read_matrix(folder / VECTORS), pictures, owners[pictures])


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
        for row, view in views.items():
            if (vector := store.stored[view.key][0]) is not None:
                vectors[row][model.name] = vector
    return vectors


def read_base(folder: Path) -> tuple[dict[str, Any], BaseSettings]:
    """Read a base's description and settings; `BadInput`: no base, or one of another version."""
    path = folder / DESCRIBED
    if not path.is_file():
        raise BadInput("no base", file=folder, expected="what `trivium kb FOLDER --out` writes")
    described = read_json(path)
    if described.get("settings", {}).get("version") != VERSION:
        raise BadInput("a base of another version: make it again with `trivium kb FOLDER --out`", file=path)
    return described, validate(BaseSettings, described["settings"], "settings", path)
