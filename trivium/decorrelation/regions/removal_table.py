"""The files of removals, one row a picture and class that goes from it, and of D' (decorrelation.md §1, §2)."""

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from trivium.core.tables import read_table, write_table
from trivium.formats.pictures import Removal

SCHEMA = pa.schema(
    [
        ("removal", pa.string()),
        ("picture", pa.int64()),
        ("name", pa.string()),
        ("split", pa.string()),
        ("class", pa.string()),
        ("removed", pa.list_(pa.string())),
        ("remaining", pa.list_(pa.string())),
        ("mask", pa.string()),
        ("height", pa.int32()),
        ("width", pa.int32()),
        ("share", pa.float64()),
        ("drawn", pa.bool_()),
    ]
)
PAIRS = pa.schema([("removal", pa.string()), ("picture", pa.int64()), ("caption", pa.int64()), ("text", pa.string())])
_FIELDS = {"removal": "id", "class": "class_name"}  # of `Removal`, where a column has another name
_ROWS = 4096  # written at a time


def write_removals(path: Path, removals: Iterable[Removal]) -> None:
    """Write removals as Parquet, in the order given, a few thousand in memory at a time."""
    write_table(path, _batches(removals), SCHEMA)


def read_removals(path: Path) -> list[Removal]:
    """The removals, in the file's order."""
    removals = []
    for row in read_table(path, SCHEMA.names).to_pylist():
        fields: dict[str, Any] = {
            _FIELDS.get(name, name): tuple(value) if isinstance(value, list) else value for name, value in row.items()
        }
        removals.append(Removal(**fields))
    return removals


def _batches(removals: Iterable[Removal]) -> Iterator[pa.RecordBatch]:
    remaining = iter(removals)
    while chunk := list(islice(remaining, _ROWS)):
        rows = [{name: getattr(removal, _FIELDS.get(name, name)) for name in SCHEMA.names} for removal in chunk]
        yield pa.RecordBatch.from_pylist(rows, schema=SCHEMA)
