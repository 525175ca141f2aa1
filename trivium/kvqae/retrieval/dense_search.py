"""Dense search: the passages whose vectors have the largest inner product with the question's (kvqae.md §3).

The knowledge base is searched in shards of rows, an inverted file of it in shards of questions. Results do not depend
on the shards.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from trivium.core.atomic import write_atomically
from trivium.core.engine import Engine
from trivium.core.matrices import MatrixRows, read_matrix
from trivium.core.parameters import Parameters, shared
from trivium.vision.neighbours import Ids, Scores, build_ivf, exact_search, faiss, ivf_search, merge, read_ivf

KB, QUERIES = "kb.npy", "queries.npy"  # in the folder of vectors
INDEX = "index.faiss"  # in the stage's work, then beside the runs

Ranked = tuple[Scores, Ids]


class DenseSearchParameters(Parameters):
    """Section `kvqae.dense_search`."""

    depth: int = shared("kvqae.depth", ge=1, description="Passages kept a question")
    index: Literal["exact", "ivf_sq8"] = Field(description="exact, or an inverted file of one byte a component")
    lists: int = Field(ge=1, description="Centroids of the inverted file (nlist)")
    probes: int = Field(ge=1, description="Lists searched a question (nprobe)")
    train_rows: int = Field(ge=1, description="Passages that the centroids are learned from")
    recall_questions: int = Field(default=100, ge=1, description="Questions whose exact search tells the file's recall")
    shard_rows: int = Field(default=1 << 19, ge=1, description="Passages a shard of the exact search")
    shard_questions: int = Field(default=4096, ge=1, description="Questions a shard where an inverted file is searched")


def search(
    embeddings: Path, parameters: DenseSearchParameters, engine: Engine, work: Path
) -> tuple[Scores, Ids, dict[str, float]]:
    """Scores and rows, (queries, depth) each, and with an inverted file its recall beside the exact search.

    `embeddings` has `kb.npy` and `queries.npy`. An inverted file is built in `work`; that of an earlier start is kept.
    """
    kb, queries = embeddings / KB, embeddings / QUERIES
    size, count = len(read_matrix(kb)), len(read_matrix(queries))
    shards = [MatrixRows(kb, rows.start, rows.stop) for rows in _ranges(size, parameters.shard_rows)]
    if parameters.index == "exact":
        return (*_exact(engine, queries, shards, parameters.depth), {})
    index = work / INDEX
    if not index.exists():
        built = build_ivf(read_matrix(kb), lists=parameters.lists, train_rows=parameters.train_rows)
        with write_atomically(index) as file:
            faiss.write_index(built, str(file))
    probe = partial(_probe, queries, kb, index, parameters.depth, parameters.probes)
    parts = _map(engine, probe, _ranges(count, parameters.shard_questions))
    scores, rows = (np.concatenate(part) for part in zip(*parts, strict=True))
    checked = np.linspace(0, count - 1, min(parameters.recall_questions, count)).astype(int)
    _, exact = _exact(engine, queries, shards, parameters.depth, checked)
    recall = np.mean([np.isin(*pair).mean() for pair in zip(exact, rows[checked], strict=True)])
    return scores, rows, {f"recall@{parameters.depth}": float(recall)}


def _map(engine: Engine, function: Callable[..., Ranked], shards: Sequence[Any]) -> Iterable[Ranked]:
    """Map over shards; a single one in this process, since another takes longer to start than a small search."""
    return engine.map(function, shards, description="search", processes=1 if len(shards) == 1 else None)


def _ranges(count: int, size: int) -> list[range]:
    return [range(start, min(start + size, count)) for start in range(0, max(count, 1), size)]


def _exact(
    engine: Engine, queries: Path, shards: Sequence[MatrixRows], depth: int, chosen: NDArray[np.int64] | None = None
) -> Ranked:
    """Search exactly, for the rows `chosen` of the questions or for all."""
    return merge(list(_map(engine, partial(_exact_shard, queries, depth, chosen), shards)), depth)


def _exact_shard(queries: Path, depth: int, chosen: NDArray[np.int64] | None, shard: MatrixRows) -> Ranked:
    vectors = read_matrix(queries)
    return exact_search(vectors if chosen is None else vectors[chosen], shard.read(), depth, first=shard.start)


def _probe(queries: Path, kb: Path, index: Path, depth: int, probes: int, rows: range) -> Ranked:
    vectors = read_matrix(queries)[rows.start : rows.stop]
    return ivf_search(vectors, read_ivf(index), read_matrix(kb), depth, probes=probes)
