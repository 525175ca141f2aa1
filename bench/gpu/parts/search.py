"""Exact search of 12 million passages in a file for 1 250 questions, as `kvqae-dense_search` does it."""

from pathlib import Path

import numpy as np

from bench.paper_size.parts import dense
from trivium.core.matrices import read_matrix
from trivium.vision.neighbours import exact_search

UNIT, GOAL = "searches a second", None
SIZE, FEW = dense.SIZE, 500_000
make = dense.make


def run(folder: Path, out: Path, count: int) -> float:
    """Search once."""
    queries, matrix = (read_matrix(folder / f"{name}.npy") for name in ("queries", "kb"))
    exact_search(queries, matrix, dense.DEPTH, rows=np.arange(count))
    return 1.0
