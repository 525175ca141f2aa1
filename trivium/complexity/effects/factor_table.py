"""The table of factors that later stages share: which examples each factor calls hard (complexity.md §4)."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from trivium.core.errors import BadInput
from trivium.core.tables import read_schema, read_table
from trivium.measures.effects import NEITHER, NO, YES

_NAMES = b"names"  # of the file's metadata
_LABELS = ("id", "text_id", "frame", "answer_element")


def schema(names: Mapping[str, str], columns: Mapping[str, pa.DataType] | None = None) -> pa.Schema:
    """Of a table of factors, with what each says in the file's metadata, where its readers find which there are.

    Args:
        names: what each factor says, in the order of their columns.
        columns: types of the columns behind them.
    """
    fields = [(name, pa.string()) for name in _LABELS] + [(name, pa.bool_()) for name in names]
    return pa.schema([*fields, *(columns or {}).items()]).with_metadata({_NAMES: json.dumps(names)})


def read_names(path: Path) -> dict[str, str]:
    """What each factor of a table says, in the order of their columns.

    Raises:
        BadInput: the file does not tell.
    """
    names: dict[str, str] = json.loads((read_schema(path).metadata or {}).get(_NAMES, b"{}"))
    if not names:
        raise BadInput("no names of the factors", file=path, expected="a file of stage complexity-factors")
    return names


@dataclass(frozen=True)
class FactorTable:
    """Examples in their order; `factors` is (names, examples) of 1 (yes), 0 (no), -1 (neither)."""

    ids: tuple[str, ...]
    texts: NDArray[np.str_]
    frames: NDArray[np.str_]
    elements: NDArray[np.str_]
    names: tuple[str, ...]
    factors: NDArray[np.int8]

    def column(self, name: str) -> int:
        """Where a factor's row is in `factors`."""
        return self.names.index(name)

    def with_factor(self, name: str, codes: NDArray[np.int8]) -> "FactorTable":
        """The same table with one factor in place of another."""
        factors = self.factors.copy()
        factors[self.column(name)] = codes
        return replace(self, factors=factors)


def coded(values: list[bool | None]) -> NDArray[np.int8]:
    """Yes, no and null as 1, 0, -1."""
    return np.array([NEITHER if value is None else YES if value else NO for value in values], dtype=np.int8)


def read_factors(path: Path) -> FactorTable:
    """Read the output of stage complexity-factors.

    Raises:
        BadInput: the file does not tell its factors, columns are missing, an id, text, frame or element is null, an id
            stands twice, or there is no row.
    """
    names = tuple(read_names(path))
    columns: Mapping[str, list] = read_table(path, [*_LABELS, *names]).to_pydict()
    for name in _LABELS:
        if None in columns[name]:
            raise BadInput("null", file=path, row=columns[name].index(None) + 1, field=name, expected="a text")
    ids = columns["id"]
    if not ids:
        raise BadInput("no examples", file=path)
    if len(set(ids)) < len(ids):
        row = next(row for row, value in enumerate(ids) if value in ids[:row])
        raise BadInput("example twice", file=path, row=row + 1, field="id", got=ids[row])
    texts, frames, elements = (np.array(columns[name], dtype=np.str_) for name in _LABELS[1:])
    codes = np.stack([coded(columns[name]) for name in names])
    return FactorTable(tuple(ids), texts, frames, elements, names, codes)
