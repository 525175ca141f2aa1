"""A data set's pictures, objects and captions as one Parquet file, of which each stage reads the columns it needs.

Stage `decorrelation-world` reads the public formats (`picture_corpora`) once, and writes this file beside them.
"""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
from pydantic import TypeAdapter

from trivium.core.tables import read_batches, read_schema, write_table
from trivium.formats.pictures import Corpus, Picture

CORPUS = "corpus.parquet"

_BOX = pa.list_(pa.float64(), 4)
_PHRASE = pa.struct({"start": pa.int32(), "end": pa.int32(), "classes": pa.list_(pa.string())})
_CAPTION = pa.struct({"id": pa.int64(), "text": pa.string(), "phrases": pa.list_(_PHRASE)})
# A segmentation is polygons or a run-length mapping: as JSON, either is kept as it was.
_OBJECT = pa.struct({"class_name": pa.string(), "box": _BOX, "segmentation": pa.string(), "crowd": pa.bool_()})
_CAPTIONED = {
    "id": pa.int64(), "name": pa.string(), "split": pa.string(), "width": pa.int32(), "height": pa.int32(),
    "captions": pa.list_(_CAPTION),
}  # fmt: skip
SCHEMA = pa.schema({**_CAPTIONED, "objects": pa.list_(_OBJECT), "others": pa.list_(_BOX)})
_WHOLE = b"corpus"  # key of the schema's metadata that holds what belongs to no single picture
_BATCH = 1024  # pictures
_PICTURE = TypeAdapter(Picture)


def write_corpus(folder: Path, corpus: Corpus) -> None:
    """Write a corpus as `corpus.parquet` into a raw folder."""
    whole = json.dumps({"classes": corpus.classes, "counts": corpus.counts})
    schema = SCHEMA.with_metadata({_WHOLE: whole})
    batches = (
        pa.RecordBatch.from_pylist([_row(picture) for picture in corpus.pictures[start : start + _BATCH]], schema)
        for start in range(0, len(corpus.pictures), _BATCH)
    )
    write_table(folder / CORPUS, batches, schema)


def load_corpus(folder: Path, *, objects: bool = True) -> Corpus:
    """Load the corpus of a raw folder, as `write_corpus` wrote it.

    Without objects, which trainings do not need, it takes a third of the time.
    """
    path, columns = folder / CORPUS, SCHEMA.names if objects else list(_CAPTIONED)
    whole = json.loads(read_schema(path).metadata[_WHOLE])
    rows = (row for batch in read_batches(path, _BATCH, columns) for row in batch.to_pylist())
    return Corpus(tuple(map(_picture, rows)), tuple(whole["classes"]), whole["counts"])


def _row(picture: Picture) -> dict[str, Any]:
    row: dict[str, Any] = _PICTURE.dump_python(picture)
    for annotated in row["objects"]:
        if annotated["segmentation"] is not None:
            annotated["segmentation"] = json.dumps(annotated["segmentation"])
    return row


def _picture(row: dict[str, Any]) -> Picture:
    for annotated in row.setdefault("objects", []):
        if annotated["segmentation"] is not None:
            annotated["segmentation"] = json.loads(annotated["segmentation"])
    return _PICTURE.validate_python(row)
