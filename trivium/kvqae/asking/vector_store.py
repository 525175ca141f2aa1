"""Vectors kept by the hash of what they describe: what has not changed is never encoded again.

A store is one SQLite file. Each batch is a transaction: a run that is killed loses the batch it was at. What a base no
longer holds, faces too, is removed and overwritten.
"""

import shutil
import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
FILE = "vectors.sqlite"
_TABLE = """CREATE TABLE IF NOT EXISTS vectors
    (encoder TEXT, key TEXT, vector BLOB, blank TEXT, PRIMARY KEY (encoder, key))"""


class VectorStore:
    """The vectors of one encoder.

    Args:
        folder: of the store.
        digest: of the encoder: its weights, settings and code.
    """

    def __init__(self, folder: Path, digest: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._digest, self._file = digest, sqlite3.connect(folder / FILE)
        self._file.execute("PRAGMA secure_delete = ON")
        self._file.execute(_TABLE)

    def blanks(self) -> dict[str, str]:
        """Key → why there is no vector, of all things without one."""
        chosen = "SELECT key, blank FROM vectors WHERE encoder = ? AND blank IS NOT NULL"
        return dict(self._file.execute(chosen, [self._digest]))

    def missing(self, keys: Iterable[str]) -> list[str]:
        """Keys of which nothing is kept, each once, in their order."""
        known = {key for (key,) in self._file.execute("SELECT key FROM vectors WHERE encoder = ?", [self._digest])}
        return [key for key in dict.fromkeys(keys) if key not in known]

    def add(self, keys: Sequence[str], vectors: Sequence[Vectors | str]) -> None:
        """Keep what an encoder made of some things: a vector, or why there is none."""
        made = [
            (None, each) if isinstance(each, str) else (np.asarray(each, "<f4").tobytes(), None) for each in vectors
        ]
        rows = [(self._digest, key, *pair) for key, pair in zip(keys, made, strict=True)]
        with self._file:
            self._file.executemany("INSERT INTO vectors VALUES (?, ?, ?, ?)", rows)

    def take(self, keys: Sequence[str]) -> Vectors:
        """The vectors of these things, (things, width), (0, 0) of nothing; KeyError where a thing has none."""
        chosen = "SELECT vector FROM vectors WHERE encoder = ? AND key = ?"
        found = [self._file.execute(chosen, [self._digest, key]).fetchone() for key in keys]
        if lacking := [key for key, row in zip(keys, found, strict=True) if row is None or row[0] is None]:
            raise KeyError(lacking[0])
        return np.array([np.frombuffer(row[0], "<f4") for row in found], np.float32).reshape(
            len(keys), -1 if keys else 0
        )

    def keep_only(self, keys: Iterable[str]) -> None:
        """Remove whatever else there is of this encoder."""
        kept = set(keys)
        stored = self._file.execute("SELECT key FROM vectors WHERE encoder = ?", [self._digest]).fetchall()
        gone = [(self._digest, key) for (key,) in stored if key not in kept]
        with self._file:
            self._file.executemany("DELETE FROM vectors WHERE encoder = ? AND key = ?", gone)


def forget_others(folder: Path, digests: Iterable[str]) -> None:
    """Remove the vectors of all encoders but these."""
    known = list(digests)
    with sqlite3.connect(folder / FILE) as file:
        file.execute("PRAGMA secure_delete = ON")
        file.execute(f"DELETE FROM vectors WHERE encoder NOT IN ({', '.join('?' * len(known))})", known)
    for left in folder.iterdir():
        if left.is_dir():  # as bases were kept before
            shutil.rmtree(left)
