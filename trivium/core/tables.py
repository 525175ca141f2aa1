"""Reading and writing JSON, JSON lines, CSV and Parquet; every writer is atomic."""

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from trivium.core.atomic import write_atomically, write_text
from trivium.core.errors import BadInput
from trivium.core.reading import LONGEST_LINE, parse_json, read_lines, read_text, refuse_other, require_file

_QUOTED = re.compile(r'"[^"]*"')
_FORMULA = tuple("=+-@\t\n＝＋－＠")  # by which some spreadsheet knows a formula (OWASP, CSV Injection)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-](inf|nan)")
M = TypeVar("M")
T = TypeVar("T")


def in_groups(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Lists of `size` items; the last may be shorter."""
    left = iter(items)
    while group := list(islice(left, size)):
        yield group


def write_json(path: Path, value: Any) -> None:
    """Write JSON with sorted keys; NaN and infinity are refused."""
    write_text(path, json.dumps(value, indent=1, sort_keys=True, allow_nan=False, ensure_ascii=False) + "\n")


def read_json(path: Path) -> Any:
    """Read a file that is one JSON value; see `parse_json` for what is refused."""
    return parse_json(read_text(path), path)


def read_json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Stream (row from 1, object) from a file with one JSON object a line; blank lines are passed over."""
    for row, line in read_lines(path):
        if line.strip():
            yield row, parse_object(line, path, row)


def read_json_records(path: Path, model: type[M]) -> Iterator[tuple[int, M]]:
    """Stream a file of one JSON object a line as instances of a pydantic dataclass, with their rows, from 1.

    Raises:
        BadInput: see `read_json_lines`; or a field is missing or not as the class has it.
    """
    from pydantic import TypeAdapter, ValidationError  # seconds, which most readers of tables need not spend

    adapter = TypeAdapter(model)
    for row, record in read_json_lines(path):
        try:
            yield row, adapter.validate_python(record)
        except ValidationError as error:
            first = error.errors()[0]
            field, problem = ".".join(map(str, first["loc"])), first["msg"].removeprefix("Value error, ")
            raise BadInput(problem, file=path, row=row, field=field, got=first["input"]) from None


def parse_object(line: str, path: Path, row: int) -> dict[str, Any]:
    """The JSON object of a line; `BadInput` names file and row where it is none."""
    value = parse_json(line, path, row)
    if not isinstance(value, dict):
        raise BadInput("not a JSON object", file=path, row=row, got=value)
    return value


def write_json_lines(path: Path, rows: Iterable[dict[str, Any]]) -> int:
    """Write one JSON object a line; returns how many."""
    count = 0
    with write_atomically(path) as temporary, temporary.open("w", encoding="utf-8") as out:
        for row in rows:
            out.write(json.dumps(row, ensure_ascii=False) + "\n")
            count += 1
    return count


def read_csv(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Stream (line from 1 where it ends, cells) of CSV; lines of empty cells are passed over.

    Cells are parted by commas, or by semicolons or tabs where the first line has more of them outside quotes: Excel
    writes semicolons where the comma stands in numbers.
    """
    text = read_text(path, expected="UTF-8 (spreadsheets call it “CSV UTF-8”)")
    first = _QUOTED.sub("", text.split("\n", 1)[0])
    csv.field_size_limit(LONGEST_LINE)
    delimiter = max(",;\t", key=first.count)
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        for cells in lines:
            if any(cells) or len(cells) == 1:
                yield lines.line_num, cells
    except csv.Error as error:
        raise BadInput(f"not CSV: {error}", file=path, row=lines.line_num) from None


def read_csv_records(path: Path, columns: Collection[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """Stream (line where it ends, cells by column) of CSV whose first row names its columns, these among them.

    Names are taken in lower case and without white space around them.

    Raises:
        BadInput: as `read_csv`; a column is missing, a name stands twice, or a row has another number of cells.
    """
    lines = read_csv(path)
    row, header = next(lines, (1, []))
    names = [name.strip().lower() for name in header]
    if missing := [name for name in columns if name not in names]:
        raise BadInput(f"missing columns: {', '.join(missing)}", file=path, row=row, got=names)
    if twice := [name for name, times in Counter(names).items() if name and times > 1]:
        raise BadInput("columns of one name", file=path, row=row, got=twice)
    for row, cells in lines:
        if len(cells) != len(names):
            problem, expected = "another number of cells than the first row has", str(len(names))
            raise BadInput(problem, file=path, row=row, got=len(cells), expected=expected)
        yield row, dict(zip(names, cells, strict=True))


def write_csv(path: Path, columns: Sequence[str], rows: Iterable[Mapping[str, Any] | Sequence[Any]]) -> None:
    """Write a heading and one line for each row; no spreadsheet takes a cell for a formula.

    A text that begins as a formula does gets an apostrophe before it, which spreadsheets do not show. Numbers stay,
    as text too. A line break within a cell is LF. What is None, or not named in a mapping, is an empty cell.
    """
    with write_atomically(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as out:
        lines = csv.writer(out, lineterminator="\n")
        lines.writerow(map(_inert, columns))
        for row in rows:
            values = [row.get(column) for column in columns] if isinstance(row, Mapping) else row
            if len(values) != len(columns) or (isinstance(row, Mapping) and not row.keys() <= set(columns)):
                raise ValueError(f"a row of other columns than {columns}: {row}")
            lines.writerow(map(_inert, values))


def _inert(value: Any) -> Any:
    """A cell's value as it is, or after an apostrophe."""
    if not isinstance(value, str):
        return value
    text = value.replace("\r\n", "\n").replace("\r", "\n")  # Python 3.11 puts no quotes around a bare CR: a new row
    return f"'{text}" if text.startswith(_FORMULA) and not _NUMBER.fullmatch(text) else text


def write_table(path: Path, batches: pa.Table | Iterable[pa.RecordBatch], schema: pa.Schema | None = None) -> None:
    """Write Parquet (zstd) from a table, or stream it from record batches (then `schema` is required)."""
    if isinstance(batches, pa.Table):
        schema = batches.schema
        batches = batches.to_batches()
    if schema is None:
        raise ValueError("a stream of batches needs its schema")
    with (
        write_atomically(path) as temporary,
        pq.ParquetWriter(temporary, schema, compression="zstd", write_page_checksum=True) as writer,
    ):
        for batch in batches:
            writer.write_batch(batch)


def read_table(path: Path, columns: Sequence[str] | None = None) -> pa.Table:
    """Read Parquet, memory-mapped; `BadInput` names missing columns and those there are, or says what is damaged."""
    with _readable(path, columns):
        names = None if columns is None else list(columns)
        return pq.read_table(path, columns=names, memory_map=True, page_checksum_verification=True)


def read_batches(path: Path, size: int, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
    """Stream Parquet in batches of at most `size` rows; raises as `read_table`."""
    with _readable(path, columns), pq.ParquetFile(path, memory_map=True, page_checksum_verification=True) as file:
        yield from file.iter_batches(size, columns=None if columns is None else list(columns))


def read_cell(path: Path, row: int, column: str) -> Any:
    """One value of Parquet, by row (from 0), without reading other row groups; raises as `read_table`."""
    with _readable(path, [column]), pq.ParquetFile(path, memory_map=True, page_checksum_verification=True) as file:
        for group in range(file.num_row_groups):
            size = file.metadata.row_group(group).num_rows
            if row < size:
                values = file.read_row_group(group, columns=[column])[column]
                if len(values) != size:
                    expected = f"{size}, as it says"
                    raise BadInput("damaged Parquet", file=path, got=f"{len(values)} rows", expected=expected)
                return values[row].as_py()
            row -= size
    raise AssertionError("a row that the file does not have")


def count_rows(path: Path) -> int:
    """The number of rows of Parquet; raises as `read_table`."""
    with _readable(path):
        return int(pq.read_metadata(path).num_rows)


def read_schema(path: Path) -> pa.Schema:
    """The schema of Parquet; raises as `read_table`."""
    with _readable(path):
        return pq.read_schema(path)


@contextmanager
def _readable(path: Path, columns: Sequence[str] | None = None) -> Iterator[None]:
    """Raise `BadInput` where the file that is read inside is not Parquet or lacks one of these columns."""
    require_file(path)
    try:
        present = pq.read_schema(path).names
        missing = [name for name in columns or () if name not in present]
        if missing:
            raise BadInput(f"missing columns: {', '.join(missing)}", file=path, got=present)
        yield
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:  # the last: names that are no UTF-8
        refuse_other(path)
        raise BadInput(f"not a readable Parquet file: {error}", file=path) from None
