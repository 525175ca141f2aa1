"""Encoded images in Parquet shards: streamed in order, or read by name; the writer is atomic."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from trivium.core.atomic import write_folder
from trivium.core.errors import BadInput
from trivium.core.tables import in_groups, read_batches, read_cell, read_schema, read_table

IMAGE_SCHEMA = pa.schema([("name", pa.string()), ("data", pa.binary())])
_KINDS = {"name": (pa.string(), pa.large_string()), "data": (pa.binary(), pa.large_binary())}


def write_images(folder: Path, images: Iterable[tuple[str, bytes]], *, shard_size: int = 256) -> int:
    """Write encoded images as Parquet shards `shard-00000.parquet` (name, data); returns how many."""
    total = 0
    with write_folder(folder) as temporary:
        for number, batch in enumerate(in_groups(images, shard_size)):
            names, data = zip(*batch, strict=True)
            table = pa.table({"name": list(names), "data": list(data)}, schema=IMAGE_SCHEMA)
            shard = temporary / f"shard-{number:05d}.parquet"
            # JPEG does not compress again; small row groups make random access cheap.
            pq.write_table(table, shard, compression="none", row_group_size=32, write_page_checksum=True)
            total += len(batch)
    return total


class Images:
    """A folder of image shards: streamed in order, or read by name.

    Raises:
        BadInput: the folder holds no shard, a column is missing or of another type, a name is empty or stands twice;
            later, where it is read, that a shard is damaged or an image has no bytes.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._places: dict[str, tuple[Path, int]] = {}
        for shard in self.shards():
            for row, name in enumerate(_read_names(shard)):
                if not name:
                    raise BadInput("image without a name", file=shard, row=row + 1, field="name", got=name)
                if name in self._places:
                    raise BadInput("image name twice", file=shard, row=row + 1, field="name", got=name)
                self._places[name] = (shard, row)
        self.names = list(self._places)

    def shards(self) -> list[Path]:
        """The shard files, in order."""
        shards = sorted(self.folder.glob("shard-*.parquet"))
        if not shards:
            raise BadInput("no image shards", file=self.folder, expected="shard-*.parquet")
        return shards

    def __contains__(self, name: str) -> bool:
        return name in self._places

    def read(self, name: str) -> bytes:
        """The encoded bytes of one image; `BadInput` when there is no such name."""
        if name not in self._places:
            raise BadInput("no such image", file=self.folder, field="name", got=name)
        shard, row = self._places[name]
        return _bytes(read_cell(shard, row, "data"), shard, row)

    def stream(self) -> Iterator[tuple[str, bytes]]:
        """All (name, encoded bytes), in order, one row group in memory at a time."""
        for shard in self.shards():
            first = 0
            for batch in read_batches(shard, 32, IMAGE_SCHEMA.names):
                for row, data in enumerate(batch["data"].to_pylist(), first):
                    yield batch["name"][row - first].as_py(), _bytes(data, shard, row)
                first += len(batch)


def _read_names(shard: Path) -> list[str | None]:
    """The names of a shard's images; `BadInput` where it has another schema."""
    schema = read_schema(shard)
    for column, kinds in _KINDS.items():
        if column in schema.names and schema.field(column).type not in kinds:
            got, expected = str(schema.field(column).type), " or ".join(map(str, kinds))
            raise BadInput("column of another type", file=shard, field=column, got=got, expected=expected)
    names = read_table(shard, ["name"])["name"]
    try:
        return names.to_pylist()
    except UnicodeDecodeError:
        raise BadInput("not UTF-8", file=shard, field="name") from None


def _bytes(data: bytes | None, shard: Path, row: int) -> bytes:
    if data is None:
        raise BadInput("image without bytes", file=shard, row=row + 1, field="data", got=data)
    return data
