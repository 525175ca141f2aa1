"""Features are names, hashed to columns (Weinberger et al. 2009); logistic regression on them.

A feature may be joined with a key, such as the element that is asked about: it then counts for that element alone,
while the bare feature counts for all, so that rare elements lean on frequent ones.
"""

import zlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.linear_model import SGDClassifier

BITS = 22
"""Of a column's number: some hundred thousand features share four million columns."""
Features = NDArray[np.uint32]
_MIX = np.uint32(0x9E3779B1)  # the golden ratio's, for multiplicative hashing


def hashed(names: Iterable[str]) -> Features:
    """The hash of each name."""
    return np.fromiter((zlib.crc32(name.encode()) for name in names), dtype=np.uint32)


def joined(features: Features, key: str) -> Features:
    """The features as those of a key alone."""
    return (features * _MIX) ^ np.uint32(zlib.crc32(key.encode()))


def matrix(rows: Sequence[Features]) -> csr_matrix:
    """(rows, columns) of 1 where a row has a feature."""
    ends = np.cumsum([0, *map(len, rows)])
    columns = (np.concatenate(rows) if rows else np.zeros(0, np.uint32)) >> np.uint32(32 - BITS)
    found = csr_matrix(
        (np.ones(len(columns), np.float32), columns.astype(np.int32), ends), shape=(len(rows), 1 << BITS)
    )
    found.sum_duplicates()
    found.data[:] = 1
    return found


class Logistic:
    """Two-class logistic regression by averaged stochastic gradients.

    Args:
        penalty: weight of the squared norm; more makes milder decisions.
        seed: of the order of the rows.
    """

    def __init__(self, penalty: float, seed: int) -> None:
        self._model: Any = SGDClassifier(
            loss="log_loss", alpha=penalty, average=True, max_iter=8, tol=None, random_state=seed
        )

    def fit(self, rows: csr_matrix, true: NDArray[np.bool_]) -> "Logistic":
        """Learn; both classes must occur."""
        self._model.fit(rows, true)
        return self

    def log_odds(self, rows: csr_matrix) -> NDArray[np.float64]:
        """(rows,) of log p / (1 - p)."""
        return np.asarray(self._model.decision_function(rows))
