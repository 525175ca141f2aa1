"""Reading and writing what stages exchange: JSON, Parquet, TREC runs, image shards, matrices.

Every writer is atomic: the target is complete or absent, whatever happens while writing.
"""

import errno
import glob
import json
import os
import shutil
import uuid
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import DTypeLike

from stages.measures.runs import Qrels, Run
from stages.stage import BadInput

_FULL = 1 << 16  # bytes free when a disk is called full: writers fill it to the last block
IMAGE_SCHEMA = pa.schema([("name", pa.string()), ("data", pa.binary())])


@contextmanager
def write_atomically(path: Path) -> Iterator[Path]:
    """Yield a path beside the target (file or folder); rename it when the block succeeds, else remove it.

    What an earlier writer of the same target left when it was killed is removed first: a target has one writer.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    _remove_left(path)
    beside = _beside(path)
    try:
        yield beside
        if path.is_dir():  # moved away in one step: a kill while it is removed must not leave half of it at the target
            path.rename(_beside(path))
            beside.replace(path)
            _remove_left(path)
        else:
            beside.replace(path)
    except Exception as error:
        if _disk_full(error, path.parent):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path)) from error
        raise
    finally:
        _remove(beside)


def remove_folder(folder: Path) -> None:
    """Remove a folder, and what an earlier call had not finished; a kill leaves it whole or gone."""
    folder.rename(_beside(folder))
    _remove_left(folder)


def _beside(path: Path) -> Path:
    return path.parent / f".{path.name}.{uuid.uuid4().hex[:8]}.partial{path.suffix}"


def _remove_left(path: Path) -> None:
    for left in path.parent.glob(f".{glob.escape(path.name)}.*.partial{glob.escape(path.suffix)}"):
        _remove(left)


def _disk_full(error: Exception, folder: Path) -> bool:
    """NumPy, safetensors, torch and faiss each have their own exception for a full disk; some do not even say so."""
    said = (isinstance(error, OSError) and error.errno == errno.ENOSPC) or os.strerror(errno.ENOSPC) in str(error)
    return said or (shutil.disk_usage(folder).free < _FULL and not isinstance(error, BadInput))


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def write_json(path: Path, value: Any) -> None:
    """Write JSON with sorted keys; NaN and infinity are refused."""
    with write_atomically(path) as beside:
        beside.write_text(
            json.dumps(value, indent=1, sort_keys=True, allow_nan=False, ensure_ascii=False) + "\n", "utf-8"
        )


def read_json(path: Path) -> Any:
    """Read JSON; `BadInput` names the line where it breaks."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BadInput("no such file", file=path) from None
    except UnicodeDecodeError as error:
        raise BadInput(f"not UTF-8: {error.reason} at byte {error.start}", file=path) from None
    except json.JSONDecodeError as error:
        raise BadInput(f"not JSON: {error.msg}", file=path, row=error.lineno) from None


def read_json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Stream (row from 1, object) from a file with one JSON object a line; blank lines are passed over."""
    for row, line in _lines(path):
        if line.strip():
            yield row, parse_object(line, path, row)


def parse_object(line: str, path: Path, row: int) -> dict[str, Any]:
    """The JSON object of a line; `BadInput` names file and row where it is none."""
    try:
        value = json.loads(line)
    except json.JSONDecodeError as error:
        raise BadInput(f"not JSON: {error.msg}", file=path, row=row) from None
    if not isinstance(value, dict):
        raise BadInput("not a JSON object", file=path, row=row, got=value)
    return value


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Stream (row from 1, line); `BadInput` when there is no such file, or at the row that is not UTF-8."""
    try:
        lines = path.open("rb")
    except FileNotFoundError:
        raise BadInput("no such file", file=path) from None
    with lines:
        for row, line in enumerate(lines, 1):
            try:
                yield row, line.decode("utf-8")
            except UnicodeDecodeError as error:
                raise BadInput(f"not UTF-8: {error.reason} at byte {error.start}", file=path, row=row) from None


def write_json_lines(path: Path, rows: Iterable[dict[str, Any]]) -> int:
    """Write one JSON object a line; returns how many."""
    count = 0
    with write_atomically(path) as beside, beside.open("w", encoding="utf-8") as out:
        for row in rows:
            out.write(json.dumps(row, ensure_ascii=False) + "\n")
            count += 1
    return count


def write_table(path: Path, batches: pa.Table | Iterable[pa.RecordBatch], schema: pa.Schema | None = None) -> None:
    """Write Parquet (zstd) from a table, or stream it from record batches (then `schema` is required)."""
    if isinstance(batches, pa.Table):
        schema = batches.schema
        batches = batches.to_batches()
    if schema is None:
        raise ValueError("a stream of batches needs its schema")
    with write_atomically(path) as beside, pq.ParquetWriter(beside, schema, compression="zstd") as writer:
        for batch in batches:
            writer.write_batch(batch)


def read_table(path: Path, columns: Sequence[str] | None = None) -> pa.Table:
    """Read Parquet, memory-mapped; `BadInput` names missing columns and those there are."""
    try:
        present = pq.read_schema(path).names
    except (pa.ArrowInvalid, OSError) as error:
        raise BadInput(f"not a readable Parquet file: {error}", file=path) from None
    missing = [name for name in columns or () if name not in present]
    if missing:
        raise BadInput("missing columns", file=path, got=missing, choices=present)
    return pq.read_table(path, columns=list(columns) if columns is not None else None, memory_map=True)


def write_run(path: Path, run: Run) -> None:
    """Write a TREC run: `query Q0 document rank score tag`; scores keep all 17 significant digits."""
    tag = run.name or path.stem
    with write_atomically(path) as beside, beside.open("w", encoding="utf-8") as out:
        for query, documents, scores in zip(run.queries, run.documents, run.scores, strict=True):
            for rank, (document, score) in enumerate(zip(documents.tolist(), scores.tolist(), strict=True), 1):
                if document < 0:
                    break
                out.write(f"{query} Q0 {document} {rank} {score!r} {tag}\n")


def read_run(path: Path, name: str | None = None, vocabulary: dict[str, int] | None = None) -> Run:
    """Read a TREC run; the order within a query is by score, ties by lower document number.

    Args:
        path: six columns a line.
        name: the run's name; its tag by default.
        vocabulary: numbers of string documents, extended as needed; without it documents must be integers.

    Raises:
        BadInput: no such file, not UTF-8, wrong number of columns, a document or score that is not a number, NaN, a
            document twice for one query, or no line at all.
    """
    lists: dict[str, dict[int, float]] = defaultdict(dict)
    tag = ""
    for row, line in _lines(path):
        columns = line.split()
        if len(columns) != 6:
            raise BadInput("wrong number of columns", file=path, row=row, got=len(columns), expected="6 (TREC run)")
        query, _, label, _, score_text, tag = columns
        document = _document(label, vocabulary, path, row)
        try:
            score = float(score_text)
        except ValueError:
            raise BadInput("not a number", file=path, row=row, field="score", got=score_text) from None
        if score != score:
            raise BadInput("NaN score", file=path, row=row, field="score")
        if document in lists[query]:
            raise BadInput("document twice for one query", file=path, row=row, field="document", got=label)
        lists[query][document] = score
    if not lists:
        raise BadInput("empty run", file=path, expected="at least one retrieved document")
    return Run.from_dict(lists, depth=max(map(len, lists.values())), name=name or tag)


def read_run_over(path: Path, queries: Sequence[str], name: str | None = None) -> Run:
    """Read a TREC run over exactly these queries; one that the file lacks gets an empty list.

    Raises:
        BadInput: as `read_run`, or the file has a query that is not among these.
    """
    try:
        return read_run(path, name).complete(queries)
    except BadInput:
        raise
    except ValueError as error:
        raise BadInput(f"the run is not about these questions: {error}", file=path) from None


def _document(label: str, vocabulary: dict[str, int] | None, path: Path, row: int) -> int:
    if vocabulary is not None:
        return vocabulary.setdefault(label, len(vocabulary))
    if not label.isdigit():
        raise BadInput("not a document number", file=path, row=row, field="document", got=label, expected="an integer")
    return int(label)


def write_qrels(path: Path, qrels: Qrels) -> None:
    """Write TREC qrels `query 0 document 1`; a query without relevant documents gets a line `query 0 -1 0`."""
    with write_atomically(path) as beside, beside.open("w", encoding="utf-8") as out:
        for query, documents in zip(qrels.queries, qrels.relevant, strict=True):
            for document in documents.tolist():
                out.write(f"{query} 0 {document} 1\n")
            if not len(documents):
                out.write(f"{query} 0 -1 0\n")


def read_qrels(path: Path, vocabulary: dict[str, int] | None = None) -> Qrels:
    """Read TREC qrels; grade > 0 is relevant, queries keep their order in the file."""
    lists: dict[str, set[int]] = {}
    for row, line in _lines(path):
        columns = line.split()
        if len(columns) != 4:
            raise BadInput("wrong number of columns", file=path, row=row, got=len(columns), expected="4 (TREC qrels)")
        query, _, label, grade = columns
        relevant = lists.setdefault(query, set())
        try:
            positive = int(grade) > 0
        except ValueError:
            raise BadInput("not an integer", file=path, row=row, field="grade", got=grade) from None
        if positive:
            relevant.add(_document(label, vocabulary, path, row))
    return Qrels(tuple(lists), tuple(np.array(sorted(documents), dtype=np.int64) for documents in lists.values()))


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


@contextmanager
def write_matrix(path: Path, rows: int, columns: int, dtype: DTypeLike = np.float16) -> Iterator[np.memmap]:
    """Yield a writable memory-mapped `.npy` (rows, columns), zero at first; renamed when the block succeeds."""
    with write_atomically(path) as beside:
        if rows == 0:  # an empty file cannot be memory-mapped
            np.save(beside, np.zeros((0, columns), dtype))
            yield np.zeros((0, columns), dtype)  # type: ignore[misc]
            return
        matrix = np.lib.format.open_memmap(beside, mode="w+", dtype=dtype, shape=(rows, columns))
        with beside.open("r+b") as file:  # a hole that cannot be filled later would kill the process (SIGBUS)
            os.posix_fallocate(file.fileno(), 0, beside.stat().st_size)
        yield matrix
        matrix.flush()


def read_matrix(path: Path) -> np.ndarray:
    """Open a `.npy` read-only and memory-mapped; `BadInput` when it is not one."""
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except FileNotFoundError:
        raise BadInput("no such file", file=path) from None
    except ValueError as error:
        if "mmap" in str(error):  # an empty matrix
            return np.load(path, allow_pickle=False)
        raise BadInput(f"not a NumPy matrix: {error}", file=path) from None


def check_finite(matrix: np.ndarray, path: Path, chunk: int = 65536) -> None:
    """Raise `BadInput` at the first row with NaN or infinity; reads `chunk` rows at a time."""
    for start in range(0, len(matrix), chunk):
        good = np.isfinite(matrix[start : start + chunk]).all(axis=tuple(range(1, matrix.ndim)))
        if not good.all():
            raise BadInput("NaN or infinite value", file=path, row=start + int(np.argmin(good)) + 1)
