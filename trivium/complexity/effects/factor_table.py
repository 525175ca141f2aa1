"""The table of factors that later stages share: which examples each factor calls hard (complexity.md §4)."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from trivium.errors import BadInput
from trivium.files.tables import read_table
from trivium.measures.effects import NEITHER, NO, YES

FACTORS = ("f0", "f1", "f2", "f3", "f4", "f5", "f6")
_NAMES = b"names"  # of the file's metadata
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six")
SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in ("id", "text_id", "frame", "answer_element")),
        *((name, pa.bool_()) for name in FACTORS),
        ("f0_count", pa.int64()),
        ("f4_arcs", pa.int64()),
        ("f4_case", pa.string()),
        ("f5_elements", pa.int64()),
        ("f6_entropy", pa.float64()),
        ("trigger_in_answer", pa.bool_()),
    ]
)


def names_of(f3_reading: str, f4_arcs: int, f5_elements: int) -> dict[str, str]:
    """What each factor says, by the parameters of stage complexity-factors of these names."""
    arcs, elements = (_NUMBERS[n] if n < len(_NUMBERS) else str(n) for n in (f4_arcs, f5_elements))
    return {
        "f0": "rare frame in the adaptation corpus",
        "f1": "coreference to resolve",
        "f2": "nominal trigger",
        "f3": f"trigger absent from {'question and answer' if f3_reading == 'both' else 'the question'}",
        "f4": f"{arcs} {'arc' if f4_arcs == 1 else 'arcs'} or more between trigger and answer",
        "f5": f"{elements} frame {'element' if f5_elements == 1 else 'elements'} or fewer",
        "f6": "varied triggers (entropy)",
    }


def schema(names: Mapping[str, str]) -> pa.Schema:
    """SCHEMA for a table whose factors say what `names` tells; the file keeps it for those who read the table."""
    return SCHEMA.with_metadata({_NAMES: json.dumps(names)})


def read_names(path: Path) -> dict[str, str]:
    """What each factor of a table says.

    Raises:
        BadInput: the file does not tell it of every factor.
    """
    names = json.loads((pq.read_schema(path).metadata or {}).get(_NAMES, b"{}"))
    if set(names) != set(FACTORS):
        raise BadInput("no names of the factors", file=path, expected="a file of stage complexity-factors")
    return names


@dataclass(frozen=True)
class FactorTable:
    """Examples in their order; `factors` is (7, examples) of 1 (yes), 0 (no), -1 (neither)."""

    ids: tuple[str, ...]
    texts: NDArray[np.str_]
    frames: NDArray[np.str_]
    elements: NDArray[np.str_]
    factors: NDArray[np.int8]

    def with_factor(self, name: str, codes: NDArray[np.int8]) -> "FactorTable":
        """The same table with one factor in place of another."""
        factors = self.factors.copy()
        factors[FACTORS.index(name)] = codes
        return replace(self, factors=factors)


def coded(values: list[bool | None]) -> NDArray[np.int8]:
    """Yes, no and null as 1, 0, -1."""
    return np.array([NEITHER if value is None else YES if value else NO for value in values], dtype=np.int8)


def read_factors(path: Path) -> FactorTable:
    """Read the output of stage complexity-factors.

    Raises:
        BadInput: columns are missing, an id, text, frame or element is null, an id stands twice, or there is no row.
    """
    labels = ("id", "text_id", "frame", "answer_element")
    columns: Mapping[str, list] = read_table(path, [*labels, *FACTORS]).to_pydict()
    for name in labels:
        if None in columns[name]:
            raise BadInput("null", file=path, row=columns[name].index(None) + 1, field=name, expected="a text")
    ids = columns["id"]
    if not ids:
        raise BadInput("no examples", file=path)
    if len(set(ids)) < len(ids):
        row = next(row for row, value in enumerate(ids) if value in ids[:row])
        raise BadInput("example twice", file=path, row=row + 1, field="id", got=ids[row])
    texts, frames, elements = (np.array(columns[name], dtype=np.str_) for name in labels[1:])
    return FactorTable(tuple(ids), texts, frames, elements, np.stack([coded(columns[name]) for name in FACTORS]))
