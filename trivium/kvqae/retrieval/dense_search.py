"""Dense search: the passages whose vectors have the largest inner product with the question's (kvqae.md §3)."""

from pathlib import Path
from typing import ClassVar, Literal

import faiss
import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from trivium.files.atomic import write_atomically
from trivium.harness.parameters import Parameters
from trivium.vision.neighbours import build_ivf, exact_search, ivf_search

CODES = {"ivf_flat": "Flat", "ivf_sq8": "SQ8"}


INDEX = "index.faiss"


class DenseSearchParameters(Parameters):
    """Section `kvqae.dense_search`."""

    elsewhere: ClassVar = {"depth": "kvqae.depth"}
    depth: int = Field(ge=1, description="Passages kept a question")
    index: Literal["exact", "ivf_flat", "ivf_sq8"] = Field(
        description="exact, or an inverted file of float32 vectors or of one byte a component"
    )
    lists: int = Field(ge=1, description="Centroids of the inverted file (nlist)")
    probes: int = Field(ge=1, description="Lists searched a question (nprobe)")
    train_rows: int = Field(ge=1, description="Passages that the centroids are learned from")
    recall_questions: int = Field(
        default=100, ge=1, description="Questions whose exact search tells the inverted file's recall"
    )
    seed: int = Field(default=0, ge=0, description="Seed of the inverted file")


def search(
    queries: NDArray, matrix: NDArray, parameters: DenseSearchParameters, work: Path
) -> tuple[NDArray[np.float32], NDArray[np.int64], dict[str, float]]:
    """Scores and rows, (queries, depth) each, and with an inverted file its recall beside the exact search.

    An inverted file is built once, in `work`.
    """
    if parameters.index == "exact":
        return (*exact_search(queries, matrix, parameters.depth), {})
    path = work / INDEX
    if not path.exists():
        index = build_ivf(
            matrix,
            lists=parameters.lists,
            codes=CODES[parameters.index],
            train_rows=parameters.train_rows,
            seed=parameters.seed,
        )
        with write_atomically(path) as beside:
            faiss.write_index(index, str(beside))
    index = faiss.read_index(str(path))
    scores, rows = ivf_search(queries, index, matrix, parameters.depth, probes=parameters.probes)
    checked = np.linspace(0, len(queries) - 1, min(parameters.recall_questions, len(queries))).astype(int)
    _, exact = exact_search(queries[checked], matrix, parameters.depth)
    recall = np.mean([np.isin(*pair).mean() for pair in zip(exact, rows[checked], strict=True)])
    return scores, rows, {f"recall@{parameters.depth}": float(recall)}
