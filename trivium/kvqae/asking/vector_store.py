"""Vectors kept by the hash of what they describe: what has not changed is never encoded again.

A store is a folder of Parquet files, one a batch, below the digest of its encoder. A file is written whole; a run that
is killed loses the batch it was at. What a base no longer holds is removed from its store, faces too.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from trivium.core.tables import read_table, write_table

Vectors = NDArray[np.float32]


class VectorStore:
    """The vectors of one encoder.

    Args:
        folder: of all stores.
        digest: of the encoder: its weights, settings and code.
    """

    def __init__(self, folder: Path, digest: str) -> None:
        self._folder = folder / digest
        self._places: dict[str, tuple[Path, int]] = {}
        self._blank: dict[str, str] = {}  # key → why there is no vector
        self._parts = 0
        self.width = 0
        self._read()

    def _read(self) -> None:
        self._places, self._blank = {}, {}
        for path in sorted(self._folder.glob("*.parquet")):
            table = read_table(path, ["key", "blank"])
            self._know(path, table["key"].to_pylist(), table["blank"].to_pylist())
        if len(self._blank) < len(self._places):
            path, row = next(place for key, place in self._places.items() if key not in self._blank)
            self.width = len(read_table(path, ["vector"])["vector"][row].as_py()) // 4

    def _know(self, path: Path, keys: Sequence[str], blanks: Sequence[str | None]) -> None:
        self._places |= {key: (path, row) for row, key in enumerate(keys)}
        self._blank |= {key: why for key, why in zip(keys, blanks, strict=True) if why is not None}
        self._parts = max(self._parts, int(path.stem) + 1)

    def missing(self, keys: Sequence[str]) -> list[str]:
        """Keys of which nothing is kept, each once, in their order."""
        return [key for key in dict.fromkeys(keys) if key not in self._places]

    def blank(self, key: str) -> str | None:
        """Why something has no vector; None where it has one."""
        return self._blank.get(key)

    def add(self, keys: Sequence[str], vectors: Sequence[Vectors | str]) -> None:
        """Keep what an encoder made of some things: a vector, or why there is none."""
        blanks = [each if isinstance(each, str) else None for each in vectors]
        made = [None if isinstance(each, str) else np.asarray(each, np.float32).tobytes() for each in vectors]
        path = self._folder / f"{self._parts:08d}.parquet"
        columns = {"key": list(keys), "vector": pa.array(made, pa.binary()), "blank": pa.array(blanks, pa.string())}
        write_table(path, pa.table(columns))
        self._know(path, keys, blanks)
        self.width = next((len(each) // 4 for each in made if each is not None), self.width)

    def take(self, keys: Sequence[str]) -> Vectors:
        """The vectors of these things, (things, width); zero where there is none.

        Raises:
            KeyError: nothing is kept of one.
        """
        rows_of: dict[Path, list[tuple[int, int]]] = {}
        for place, key in enumerate(keys):
            path, row = self._places[key]
            rows_of.setdefault(path, []).append((place, row))
        vectors = np.zeros((len(keys), self.width), np.float32)
        for path, pairs in rows_of.items():
            places, rows = (list(each) for each in zip(*pairs, strict=True))
            found = read_table(path, ["vector"])["vector"].take(rows).to_pylist()
            for place, vector in zip(places, found, strict=True):
                if vector is not None:
                    vectors[place] = np.frombuffer(vector, np.float32)
        return vectors

    def keep_only(self, keys: Sequence[str]) -> int:
        """Remove whatever else there is; returns how much that was."""
        removed, wanted = 0, pa.array(sorted(set(keys)), pa.string())
        if set(keys) >= self._places.keys():
            return 0
        for path in sorted(self._folder.glob("*.parquet")):
            table = read_table(path)
            left = table.filter(pc.is_in(table["key"], value_set=wanted))
            if left.num_rows == table.num_rows:
                continue
            removed += table.num_rows - left.num_rows
            if left.num_rows:
                write_table(path, left)
            else:
                path.unlink()
        self._read()
        return removed
