"""Encoded images in Parquet shards: streamed in order, or read by name; the writer is atomic."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from trivium.errors import BadInput
from trivium.files.atomic import write_atomically
from trivium.files.tables import read_table

IMAGE_SCHEMA = pa.schema([("name", pa.string()), ("data", pa.binary())])


def write_images(folder: Path, images: Iterable[tuple[str, bytes]], *, shard_size: int = 256) -> int:
    """Write encoded images as Parquet shards `shard-00000.parquet` (name, data); returns how many."""
    count = 0
    with write_atomically(folder) as beside:
        beside.mkdir()
        batch: list[tuple[str, bytes]] = []

        def flush() -> None:
            shard = beside / f"shard-{(count - 1) // shard_size:05d}.parquet"
            names, data = zip(*batch, strict=True)
            table = pa.table({"name": list(names), "data": list(data)}, schema=IMAGE_SCHEMA)
            # JPEG does not compress again; small row groups make random access cheap.
            pq.write_table(table, shard, compression="none", row_group_size=32)
            batch.clear()

        for image in images:
            batch.append(image)
            count += 1
            if len(batch) == shard_size:
                flush()
        if batch:
            flush()
    return count


class Images:
    """A folder of image shards: streamed in order, or read by name.

    Raises:
        BadInput: the folder holds no shard, or a name stands twice.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._place: dict[str, tuple[Path, int]] = {}
        for shard in self.shards():
            for row, name in enumerate(read_table(shard, ["name"])["name"].to_pylist()):
                if name in self._place:
                    raise BadInput("image name twice", file=shard, row=row + 1, field="name", got=name)
                self._place[name] = (shard, row)
        self.names = list(self._place)

    def shards(self) -> list[Path]:
        """The shard files, in order."""
        shards = sorted(self.folder.glob("shard-*.parquet"))
        if not shards:
            raise BadInput("no image shards", file=self.folder, expected="shard-*.parquet")
        return shards

    def __contains__(self, name: str) -> bool:
        return name in self._place

    def read(self, name: str) -> bytes:
        """The encoded bytes of one image; `BadInput` when there is no such name."""
        if name not in self._place:
            raise BadInput("no such image", file=self.folder, field="name", got=name)
        shard, row = self._place[name]
        with pq.ParquetFile(shard, memory_map=True) as file:
            for group in range(file.num_row_groups):
                size = file.metadata.row_group(group).num_rows
                if row < size:
                    return file.read_row_group(group, columns=["data"])["data"][row].as_py()
                row -= size
        raise AssertionError("the index and the shard disagree")

    def stream(self) -> Iterator[tuple[str, bytes]]:
        """All (name, encoded bytes), in order, one row group in memory at a time."""
        for shard in self.shards():
            with pq.ParquetFile(shard, memory_map=True) as file:
                for batch in file.iter_batches(batch_size=32):
                    yield from zip(batch["name"].to_pylist(), batch["data"].to_pylist(), strict=True)
