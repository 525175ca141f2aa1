"""Exact search of pictures for 1 250 questions by three encoders, one after the other."""

from pathlib import Path

import numpy as np

from bench.kb_search import QUESTIONS, WIDTHS, questions, write_vectors
from trivium.core.matrices import read_matrix
from trivium.vision.neighbours import exact_search

SIZE, UNIT = 1_500_000, "pictures"
DEPTH, REPEATED = 100, 1250 // QUESTIONS


def make(folder: Path, size: int) -> None:
    for width in WIDTHS:
        write_vectors(folder / f"{width}.npy", size, width)


def run(folder: Path, out: Path) -> None:
    for width in WIDTHS:
        matrix = read_matrix(folder / f"{width}.npy")
        asked = np.concatenate([questions(matrix, seed=seed) for seed in range(REPEATED)])
        exact_search(asked, matrix, DEPTH)
