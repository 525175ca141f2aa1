"""Streams of downloads: records of JSON lines, Parquet or Arrow files, and images of an archive cut into parts."""

import gzip
import tarfile
import zlib
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import pyarrow as pa

from trivium.core.errors import BadInput
from trivium.core.reading import LARGEST_IMAGE, open_file, require_file
from trivium.core.tables import read_batches, read_json_lines
from trivium.formats.pictures import is_picture


def read_records(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Stream (row from 1, record) from JSON lines, plain or gzipped, Parquet or an Arrow stream.

    Raises:
        BadInput: the suffix is another, or the file breaks off, is damaged, or holds what `parse_json` refuses.
    """
    if path.name.endswith((".jsonl", ".json", ".jsonl.gz", ".json.gz")):
        yield from read_json_lines(path)
    elif path.suffix in {".parquet", ".arrow"}:
        try:
            batches = read_batches(path, 65536) if path.suffix == ".parquet" else _arrow_batches(path)
            yield from enumerate((record for batch in batches for record in batch.to_pylist()), 1)
        except (OSError, pa.ArrowException, UnicodeDecodeError) as error:
            raise BadInput(f"broken file: {error}", file=path) from None
    else:
        raise BadInput("unknown kind of file", file=path, choices=(".jsonl", ".jsonl.gz", ".parquet", ".arrow"))


def _arrow_batches(path: Path) -> Iterator[pa.RecordBatch]:
    require_file(path)
    with pa.OSFile(str(path)) as source, pa.ipc.open_stream(source) as stream:
        yield from stream


class _Joined:
    """Files read one after another as if they were one."""

    def __init__(self, parts: Sequence[Path]) -> None:
        self._streams = (open_file(part) for part in parts)
        self._stream = next(self._streams)

    def read(self, size: int) -> bytes:
        """At most `size` bytes; none only at the end of the last file."""
        while not (data := self._stream.read(size)):
            self._stream.close()
            if (stream := next(self._streams, None)) is None:
                return b""
            self._stream = stream
        return data


def images_in_tar(
    parts: Sequence[Path], names: Container[str] | None = None, counts: Counter[str] | None = None
) -> Iterator[tuple[str, bytes]]:
    """Stream (file name, encoded bytes) from a gzipped tar, given as one file or as consecutive parts of one.

    Nothing is unpacked to disk. Folders in the archive are dropped from the names.

    Args:
        parts: the archive's pieces in order.
        names: to keep; all by default.
        counts: where to count what is passed over: `not_wanted`, `not_an_image`, `twice`.

    Raises:
        BadInput: the archive breaks off or is not a gzipped tar.
    """
    counts = Counter() if counts is None else counts
    streamed: set[str] = set()
    try:
        joined: Any = _Joined(parts)  # tarfile only reads it
        with tarfile.open(fileobj=joined, bufsize=1 << 20, mode="r|gz") as archive:
            for member in archive:
                if not member.isfile():
                    continue
                name = PurePosixPath(member.name).name
                if not is_picture(name):
                    counts["not_an_image"] += 1
                elif names is not None and name not in names:
                    counts["not_wanted"] += 1
                elif name in streamed:
                    counts["twice"] += 1
                elif member.size > LARGEST_IMAGE:
                    got, expected = f"{member.size} bytes", f"at most {LARGEST_IMAGE}"
                    raise BadInput("image too large", file=parts[0], row=name, got=got, expected=expected)
                else:
                    streamed.add(name)
                    stream = archive.extractfile(member)
                    assert stream is not None  # a regular file
                    yield name, stream.read()
    except (tarfile.TarError, EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise BadInput(f"broken archive: {error}", file=parts[0], got=f"{len(parts)} parts") from None
