"""CSV, written so that no spreadsheet takes a cell for a formula; atomic."""

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from trivium.core.atomic import write_atomically

_FORMULA = tuple("=+-@\t\n＝＋－＠")
"""First characters by which some spreadsheet knows a formula (OWASP, CSV Injection)."""

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-](inf|nan)")


def write_csv(path: Path, columns: Sequence[str], rows: Iterable[Mapping[str, Any] | Sequence[Any]]) -> None:
    """Write a heading and a line a row.

    A text that begins as a formula does gets an apostrophe before it, which spreadsheets do not show. Numbers stay,
    as text too. A line break within a cell is LF.

    Args:
        path: where.
        columns: their names.
        rows: values in the columns' order, or by their names; what is None or not named is an empty cell.
    """
    with write_atomically(path) as beside, beside.open("w", encoding="utf-8", newline="") as out:
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
