"""The file of removals (decorrelation.md §1): one row a picture and class that goes from it."""

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

import pyarrow as pa

from trivium.core.errors import BadInput
from trivium.core.tables import read_table, write_table
from trivium.formats.pictures import SPLITS, Removal

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
_ROWS = 4096  # written at a time


def write_removals(path: Path, removals: Iterable[Removal]) -> None:
    """Write removals as Parquet, in the order given, a few thousand in memory at a time."""
    write_table(path, _batches(removals), SCHEMA)


def read_removals(path: Path) -> list[Removal]:
    """Read the removals, in the file's order.

    Raises:
        BadInput: not such a file, an id twice, or a split that there is not.
    """
    removals: list[Removal] = []
    seen: set[str] = set()
    for row, values in enumerate(read_table(path, SCHEMA.names).to_pylist(), 1):
        if values["removal"] in seen:
            raise BadInput("removal twice", file=path, row=row, field="removal", got=values["removal"])
        if values["split"] not in SPLITS:
            raise BadInput("no such split", file=path, row=row, field="split", got=values["split"], choices=SPLITS)
        seen.add(values["removal"])
        removals.append(
            Removal(
                id=values["removal"],
                picture=values["picture"],
                name=values["name"],
                split=values["split"],
                class_name=values["class"],
                removed=tuple(values["removed"]),
                remaining=tuple(values["remaining"]),
                mask=values["mask"],
                height=values["height"],
                width=values["width"],
                share=values["share"],
                drawn=values["drawn"],
            )
        )
    return removals


def _batches(removals: Iterable[Removal]) -> Iterator[pa.RecordBatch]:
    rows = iter(removals)
    while chunk := list(islice(rows, _ROWS)):
        yield pa.RecordBatch.from_pylist([_row(removal) for removal in chunk], schema=SCHEMA)


def _row(removal: Removal) -> dict[str, object]:
    return {
        "removal": removal.id,
        "picture": removal.picture,
        "name": removal.name,
        "split": removal.split,
        "class": removal.class_name,
        "removed": list(removal.removed),
        "remaining": list(removal.remaining),
        "mask": removal.mask,
        "height": removal.height,
        "width": removal.width,
        "share": removal.share,
        "drawn": removal.drawn,
    }
