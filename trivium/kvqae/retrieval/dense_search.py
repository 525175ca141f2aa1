"""Dense search: the passages whose vectors have the largest inner product with the question's (kvqae.md §3).

The knowledge base is searched in shards of rows, an inverted file is filled by them and searched in shards of
questions; none of that changes a result.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from trivium.core.atomic import write_atomically
from trivium.core.engine import Engine
from trivium.core.matrices import MatrixRows, read_matrix
from trivium.core.parameters import Parameters
from trivium.vision.faiss_library import faiss
from trivium.vision.neighbours import (
    Ids,
    Scores,
    exact_search,
    fill_ivf,
    ivf_search,
    merge,
    read_ivf,
    train_ivf,
    write_ivf,
)

CODES = {"ivf_flat": "Flat", "ivf_sq8": "SQ8"}
KB, QUERIES = "kb.npy", "queries.npy"  # in the folder of vectors
INDEX = "index.faiss"  # beside the runs, and beside it its lists

Found = tuple[Scores, Ids]
T = TypeVar("T")
R = TypeVar("R")


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
    shard_rows: int = Field(default=1 << 19, ge=1, description="Passages a shard, of the search and of the index")
    shard_questions: int = Field(default=4096, ge=1, description="Questions a shard where an inverted file is searched")


def search(
    embeddings: Path, parameters: DenseSearchParameters, engine: Engine, work: Path
) -> tuple[Scores, Ids, dict[str, float]]:
    """Scores and rows, (queries, depth) each, and with an inverted file its recall beside the exact search.

    Args:
        embeddings: folder with `kb.npy` and `queries.npy`.
        engine: maps over the shards.
        work: an inverted file is built there, part by part; a part that is there is not made again.
    """
    kb, queries = embeddings / KB, embeddings / QUERIES
    size, asked = len(read_matrix(kb)), len(read_matrix(queries))
    shards = [MatrixRows(kb, rows.start, rows.stop) for rows in _ranges(size, parameters.shard_rows)]
    if parameters.index == "exact":
        return (*_exact(engine, queries, shards, parameters.depth), {})
    index = index_folder(work)
    if not index.exists():
        _build(kb, shards, parameters, engine, work)
    probe = partial(_probe, queries, kb, index, parameters.depth, parameters.probes)
    found = list(_map(engine, probe, _ranges(asked, parameters.shard_questions), "search"))
    scores, rows = (np.concatenate(part) for part in zip(*found, strict=True))
    checked = np.linspace(0, asked - 1, min(parameters.recall_questions, asked)).astype(int)
    _, exact = _exact(engine, queries, shards, parameters.depth, checked)
    recall = np.mean([np.isin(*pair).mean() for pair in zip(exact, rows[checked], strict=True)])
    return scores, rows, {f"recall@{parameters.depth}": float(recall)}


def index_folder(work: Path) -> Path:
    """Where `search` leaves an inverted file."""
    return work / "index"


def _map(
    engine: Engine, function: Callable[[T], R], shards: Sequence[T], description: str, out: Path | None = None
) -> Iterable[R]:
    """Over a single shard in this very process: another would take longer to start than a small search takes."""
    if len(shards) == 1:
        return map(function, shards)
    on_gpu = engine.has_gpu(lambda: faiss.get_num_gpus() > 0)
    return engine.map(function, shards, description=description, on_gpu=on_gpu, out=out)


def _ranges(count: int, size: int) -> list[range]:
    return [range(start, min(start + size, count)) for start in range(0, max(count, 1), size)]


def _exact(
    engine: Engine, queries: Path, shards: Sequence[MatrixRows], depth: int, chosen: NDArray[np.int64] | None = None
) -> Found:
    found = list(_map(engine, partial(_exact_shard, queries, depth, chosen), shards, "search"))
    return merge(found, depth)


def _exact_shard(queries: Path, depth: int, chosen: NDArray[np.int64] | None, shard: MatrixRows) -> Found:
    asked = read_matrix(queries)
    asked = asked if chosen is None else asked[chosen]
    return exact_search(asked, shard.read(), depth, first=shard.start)


def _build(
    kb: Path, shards: Sequence[MatrixRows], parameters: DenseSearchParameters, engine: Engine, work: Path
) -> None:
    """Train on a sample, fill a part a shard, join the parts."""
    trained = work / "trained.faiss"
    if not trained.exists():
        index = train_ivf(
            read_matrix(kb),
            lists=parameters.lists,
            codes=CODES[parameters.index],
            train_rows=parameters.train_rows,
            seed=parameters.seed,
        )
        with write_atomically(trained) as beside:
            faiss.write_index(index, str(beside))
    parts = list(_map(engine, partial(_fill, trained, work), shards, "index", out=work))
    with write_atomically(index_folder(work)) as beside:
        beside.mkdir()
        write_ivf(faiss.read_index(str(trained)), parts, beside / INDEX)
    for part in parts:
        part.unlink()


def _fill(trained: Path, work: Path, shard: MatrixRows) -> Path:
    part = work / f"part-{shard.start:010d}.faiss"
    if not part.exists():
        index = fill_ivf(faiss.read_index(str(trained)), shard.read(), shard.start)
        with write_atomically(part) as beside:
            faiss.write_index(index, str(beside))
    return part


def _probe(queries: Path, kb: Path, index: Path, depth: int, probes: int, asked: range) -> Found:
    vectors = read_matrix(queries)[asked.start : asked.stop]
    return ivf_search(vectors, read_ivf(index / INDEX), read_matrix(kb), depth, probes=probes)
