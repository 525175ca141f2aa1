"""Reading and writing JSON, JSON lines and Parquet; every writer is atomic."""

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from trivium.errors import BadInput
from trivium.files.atomic import write_atomically


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
    for row, line in read_lines(path):
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


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
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
