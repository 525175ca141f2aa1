"""Exact search of passages for 1 250 questions, in half-precision vectors of a file, as in `kvqae-dense_search`."""

from pathlib import Path

import numpy as np

from trivium.core.engine import LocalEngine
from trivium.core.matrices import write_matrix
from trivium.kvqae.retrieval.dense_search import DenseSearchParameters, search

SIZE, UNIT = 12_000_000, "passages"
WIDTH, QUESTIONS, DEPTH, AT_A_TIME = 768, 1250, 100, 20_000


def make(folder: Path, size: int) -> None:
    rng = np.random.default_rng(0)
    with write_matrix(folder / "kb.npy", size, WIDTH) as matrix:
        for start in range(0, size, AT_A_TIME):
            matrix[start : start + AT_A_TIME] = rng.standard_normal((min(AT_A_TIME, size - start), WIDTH), np.float32)
    with write_matrix(folder / "queries.npy", QUESTIONS, WIDTH) as matrix:
        matrix[:] = rng.standard_normal((QUESTIONS, WIDTH), np.float32)


def parameters(index: str, size: int = SIZE) -> DenseSearchParameters:
    """Make the stage's parameters: lists and probes as in `scales/paper.yaml`, fewer for few passages."""
    lists = min(4096, max(1, size // 40))
    settings = {"lists": lists, "probes": max(1, lists // 32), "train_rows": 20 * lists, "recall_questions": 1}
    return DenseSearchParameters.model_validate({"depth": DEPTH, "index": index, **settings})


def run(folder: Path, out: Path) -> None:
    search(folder, parameters("exact"), LocalEngine(1), out)
