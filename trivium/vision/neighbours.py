"""Nearest neighbours by inner product or cosine: exact, and approximate with an inverted file (faiss).

faiss finds candidates in float32, whose last bits depend on how a product is blocked. Results are scored again in
float64, so that equal vectors get equal scores and no result depends on block size, shards or batch. Ties go to the
lower id.

faiss's wheel contains an OpenBLAS of 2021, which uses kernels of 2004 on processors that it does not know: on an Ice
Lake exact search reached 10 of 61 GFLOP/s. This module names the kernels for it, unless the environment does, as under
`run.portable`; so faiss must be imported from here. It is `faiss-cpu`: `faiss-gpu` brings the libraries of another CUDA
version, which torch would load into all processes (200 MiB each).
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trivium.core.errors import BadInput

CORE = "OPENBLAS_CORETYPE"
KERNELS = {"avx512bw": "SkylakeX", "avx2": "Haswell"}  # by flags of the processor, the fastest first


@contextmanager
def named_kernels(processor: Path = Path("/proc/cpuinfo")) -> Iterator[None]:
    """Name the kernels for an OpenBLAS that is loaded in the block, by the flags of the processor."""
    flags = set(processor.read_text().split()) if processor.exists() else set()
    core = next((name for flag, name in KERNELS.items() if flag in flags), None)
    if core is None or CORE in os.environ:
        yield
        return
    os.environ[CORE] = core
    try:
        yield
    finally:
        del os.environ[CORE]


with named_kernels():
    import faiss as faiss

MARGIN = 16  # candidates beyond k, so that ties at the cut are seen
PAIRS = 128  # pairs scored again at a time, so that their vectors fit in the processor's cache

# Number of queries from which faiss multiplies matrices; by default 128 000, which made 250 queries four times slower.
faiss.cvar.distance_compute_blas_threshold = 20

Index = Any  # faiss's index, which its stubs lack
_faiss: Any = faiss
Scores = NDArray[np.float32]
Ids = NDArray[np.int64]


def exact_search(
    queries: NDArray,
    matrix: NDArray,
    k: int,
    *,
    rows: Ids | None = None,
    first: int = 0,
    cosine: bool = False,
    block_size: int = 1 << 16,
) -> tuple[Scores, Ids]:
    """Find the k rows of largest inner product with each query.

    The matrix is read in blocks, so that a memory-mapped float16 matrix is never converted to float32 as a whole.

    Args:
        queries: (queries, width) float.
        matrix: (n, width) float, may be memory-mapped.
        k: results for each query; fewer when there are fewer rows.
        rows: search only these rows, in increasing order; all when None.
        first: number of the matrix's first row, where the matrix is part of a larger one.
        cosine: divide by both lengths; a zero vector has cosine 0 with everything.
        block_size: rows in memory at a time; the result does not depend on it.

    Returns:
        Scores (queries, k) float32, highest first, and row numbers (queries, k) int64; equal scores by lower row.

    Raises:
        BadInput: widths differ, or a vector is not finite.
    """
    _check_width(queries, matrix)
    rows = np.arange(len(matrix)) if rows is None else np.asarray(rows, dtype=np.int64)
    k = min(k, len(rows))
    queries = _vectors(queries, np.arange(len(queries)), cosine, "query")
    wide = queries.astype(np.float64)
    best, best_ids = np.full((len(queries), k), -np.inf, np.float32), np.full((len(queries), k), -1, np.int64)
    if not k or not len(queries):
        return best, best_ids
    buffer = np.empty((min(block_size, len(rows)), matrix.shape[1]), np.float32)
    for start in range(0, len(rows), block_size):
        ids = rows[start : start + block_size]
        # A slice of consecutive rows is read in one go; a list of rows is gathered.
        whole = ids[-1] - ids[0] + 1 == len(ids)
        block = matrix[ids[0] : ids[-1] + 1] if whole else matrix[ids]
        ids = ids + first
        block = _vectors(block, ids, cosine, "matrix", buffer)
        for some, candidates, possible in _candidates(queries, block, best):
            query, _ = np.nonzero(possible)
            scores = np.full(candidates.shape, -np.inf, np.float32)
            scores[possible] = _score(wide, block, some[query], candidates[possible])
            own = (best[some], best_ids[some])
            best[some], best_ids[some] = merge([own, (scores, ids[candidates])], k)
    return best, best_ids


def merge(parts: Sequence[tuple[Scores, Ids]], k: int) -> tuple[Scores, Ids]:
    """Merge results of `exact_search` on separate sets of rows for the same queries to the k best; ties by lower id."""
    scores, ids = (np.concatenate(part, axis=1) for part in zip(*parts, strict=True))
    order = np.lexsort((ids, -scores), axis=1)[:, :k]
    return np.take_along_axis(scores, order, axis=1), np.take_along_axis(ids, order, axis=1)


def build_ivf(matrix: NDArray, *, lists: int, train_rows: int, seed: int = 0, block_size: int = 1 << 16) -> Index:
    """Build an inverted file by inner product, with one byte a component: rows are grouped around `lists` centroids.

    Args:
        matrix: (n, width) float, may be memory-mapped.
        lists: number of centroids (nlist); 4√n to 16√n is usual.
        train_rows: rows drawn at random to find the centroids.
        seed: seed of that draw and of the initial centroids.
        block_size: rows in memory at a time, besides the inverted file itself.

    Raises:
        BadInput: fewer rows to train on than centroids, or a vector is not finite.
    """
    sample = np.sort(np.random.default_rng(seed).permutation(len(matrix))[:train_rows])
    if len(sample) < lists:
        raise BadInput("fewer rows than lists", field="lists", got=lists, expected=f"at most {len(sample)}")
    index: Index = faiss.index_factory(matrix.shape[1], f"IVF{lists},SQ8", faiss.METRIC_INNER_PRODUCT)
    index.cp.seed = seed
    index.train(_vectors(matrix[sample], sample, False, "matrix"))
    for start in range(0, len(matrix), block_size):
        block = matrix[start : start + block_size]
        index.add(_vectors(block, np.arange(start, start + len(block)), False, "matrix"))
    return index


def read_ivf(path: Path) -> Index:
    """Open an inverted file that faiss has written; its lists are memory-mapped."""
    return faiss.read_index(str(path), faiss.IO_FLAG_READ_ONLY | faiss.IO_FLAG_MMAP)


def ivf_search(queries: NDArray, index: Index, matrix: NDArray, k: int, *, probes: int) -> tuple[Scores, Ids]:
    """Search the `probes` lists nearest to each query; candidates are scored again with the matrix.

    Returns:
        As `exact_search`; padded with id -1 and score -inf where the lists have fewer than k rows.

    Raises:
        BadInput: widths differ, or a query is not finite.
    """
    _check_width(queries, matrix)
    queries = _vectors(queries, np.arange(len(queries)), False, "query")
    wide = queries.astype(np.float64)
    # faiss's own choice of lists would depend on the number of queries.
    kept = _faiss.downcast_index(index.quantizer).get_xb()
    centroids = faiss.rev_swig_ptr(kept, index.nlist * index.d).reshape(index.nlist, index.d)
    nearness, nearest = exact_search(queries, centroids, probes)
    index.nprobe = nearest.shape[1]
    k = min(k, len(matrix))
    _, ids = index.search_preassigned(queries, min(k + MARGIN, len(matrix)), nearest, nearness)
    scores = np.full(ids.shape, -np.inf, np.float32)
    for start in range(0, len(queries), 256):  # 256 queries × their candidates in memory
        chunk = ids[start : start + 256]
        rows, places = np.unique(chunk[chunk >= 0], return_inverse=True)
        owners = np.nonzero(chunk >= 0)[0] + start
        scores[start : start + 256][chunk >= 0] = _score(wide, _single(matrix[rows]), owners, places)
    return merge([(scores, ids)], k)


def _check_width(queries: NDArray, matrix: NDArray) -> None:
    if queries.ndim != 2 or matrix.ndim != 2 or queries.shape[1] != matrix.shape[1]:
        raise BadInput("queries do not fit the matrix", got=queries.shape, expected=f"(queries, {matrix.shape[-1]})")


def _vectors(vectors: NDArray, ids: Ids, cosine: bool, name: str, buffer: Scores | None = None) -> Scores:
    """Convert to finite float32, of length 1 for the cosine; `buffer`, with at least as many rows, may hold it."""
    vectors = _single(vectors, buffer)
    if not np.isfinite(_squares(vectors)).all():  # also true where squares of large values overflow
        good = np.isfinite(vectors).all(axis=1)
        if not good.all():
            raise BadInput(f"NaN or infinite value in a {name} vector", row=int(ids[np.argmin(good)]) + 1)
    if cosine:
        lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64))
        vectors = (vectors / np.where(lengths > 0, lengths, 1)[:, None]).astype(np.float32)
    return vectors


def _single(vectors: NDArray, buffer: Scores | None = None) -> Scores:
    """Convert to float32; faiss widens float16 on all cores, NumPy on one and more slowly."""
    if vectors.dtype != np.float16 or not vectors.size:
        return np.ascontiguousarray(vectors, dtype=np.float32)
    count, width = vectors.shape
    # New pages cost more than widening.
    wide = np.empty((count, width), np.float32) if buffer is None else buffer[:count]
    codes = np.ascontiguousarray(vectors).view(np.uint8)
    halves = _faiss.ScalarQuantizer(width, faiss.ScalarQuantizer.QT_fp16)
    halves.decode_c(faiss.swig_ptr(codes), faiss.swig_ptr(wide), count)
    return wide


def _squares(vectors: Scores) -> Scores:
    """Compute squared lengths, in float32."""
    squares = np.empty(len(vectors), np.float32)
    _faiss.fvec_norms_L2sqr(faiss.swig_ptr(squares), faiss.swig_ptr(vectors), vectors.shape[1], len(vectors))
    return squares


def _candidates(queries: Scores, block: Scores, best: Scores) -> Iterator[tuple[Ids, Ids, NDArray[np.bool_]]]:
    """Find rows that could be among the k best, given the k best scores so far (queries, k).

    Yields:
        Some of the queries (n,), rows of the block for them (n, width), and which of these could be among the k best.
    """
    # Bound on the error of a float32 inner product; two scores closer than this may be equal.
    lengths = np.linalg.norm(queries, axis=1) * np.sqrt(_squares(block).max())
    error = (lengths * np.sqrt(block.shape[1]) * 2.0**-22)[:, None]
    waiting, k = np.arange(len(queries)), best.shape[1]
    width = min(k + MARGIN, len(block))
    while len(waiting):
        scores, rows = faiss.knn(queries[waiting], block, width, metric=faiss.METRIC_INNER_PRODUCT)
        together = np.concatenate([best[waiting], scores], axis=1)
        cut = np.partition(together, -k, axis=1)[:, -k, None] - error[waiting]
        # A list that ends above the cut may hide rows that tie with the k-th, so it is made longer.
        complete = (scores[:, -1] < cut[:, 0]) | (width == len(block))
        if complete.any():
            yield waiting[complete], rows[complete], (scores >= cut)[complete]
        waiting = waiting[~complete]
        width = min(4 * width, len(block))


def _score(queries: NDArray[np.float64], block: Scores, query: Ids, row: Ids) -> Scores:
    """Compute inner products of pairs in float64, rounded to float32."""
    scores = np.empty(len(query), np.float32)
    for start in range(0, len(query), PAIRS):
        part = slice(start, start + PAIRS)
        scores[part] = np.einsum("ij,ij->i", queries[query[part]], block[row[part]].astype(np.float64))
    return scores + np.float32(0)  # -0 becomes 0
