"""Exact search of pictures for 1 250 questions by three encoders, one after the other."""

from pathlib import Path

import numpy as np

from trivium.core.matrices import read_matrix, write_matrix
from trivium.vision.neighbours import exact_search

SIZE, UNIT = 1_500_000, "pictures"
WIDTHS, QUESTIONS, DEPTH = (2048, 1024, 512), 1250, 100
AT_A_TIME = 10_000


def make(folder: Path, size: int) -> None:
    """Draw vectors of length 1, in half precision."""
    draw = np.random.default_rng(0)
    for width in WIDTHS:
        with write_matrix(folder / f"{width}.npy", size, width) as matrix:
            for start in range(0, size, AT_A_TIME):
                rows = draw.standard_normal((min(AT_A_TIME, size - start), width), np.float32)
                matrix[start : start + AT_A_TIME] = rows / np.linalg.norm(rows, axis=1, keepdims=True)


def run(folder: Path, out: Path) -> None:
    for width in WIDTHS:
        matrix = read_matrix(folder / f"{width}.npy")
        questions = np.random.default_rng(1).standard_normal((QUESTIONS, width), np.float32)
        exact_search(questions, matrix, DEPTH)
