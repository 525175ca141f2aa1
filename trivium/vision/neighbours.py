"""Nearest neighbours by inner product or cosine: exact, and approximate with an inverted file (faiss).

faiss finds candidates in float32, whose last bits depend on how a product was blocked. What is returned is scored
again in float64, so that equal vectors get equal scores and no result depends on block size, batch or device; ties go
to the lower id.
"""

from collections.abc import Iterator
from functools import cache

import faiss
import numpy as np
from numpy.typing import NDArray

from trivium.errors import BadInput

MARGIN = 16  # candidates beyond k, so that ties at the cut are seen
GPU_MAX = 2048  # the longest list that faiss returns from a GPU
PAIRS = 1 << 15  # pairs scored again at a time

# From how many queries on faiss multiplies matrices; its own default, 128 000, made 250 queries four times slower.
faiss.cvar.distance_compute_blas_threshold = 20

Scores = NDArray[np.float32]
Ids = NDArray[np.int64]


def exact_search(
    queries: NDArray,
    matrix: NDArray,
    k: int,
    *,
    rows: Ids | None = None,
    cosine: bool = False,
    block_size: int = 1 << 16,
) -> tuple[Scores, Ids]:
    """The k rows of largest inner product with each query.

    The matrix is read in blocks, so a memory-mapped float16 matrix never stands in memory as float32.

    Args:
        queries: (queries, width) float.
        matrix: (n, width) float, may be memory-mapped.
        k: results a query; fewer when there are fewer rows.
        rows: search only these rows, in increasing order; all when None.
        cosine: divide by both lengths; a zero vector has cosine 0 with everything.
        block_size: rows in memory at a time; the result does not depend on it.

    Returns:
        scores (queries, k) float32, highest first, and row numbers (queries, k) int64; equal scores by lower row.

    Raises:
        BadInput: widths differ, or a vector is not finite.
    """
    _check_width(queries, matrix)
    rows = np.arange(len(matrix)) if rows is None else np.asarray(rows, dtype=np.int64)
    k = min(k, len(rows))
    queries = _vectors(queries, np.arange(len(queries)), cosine, "query")
    best = (np.full((len(queries), k), -np.inf, np.float32), np.full((len(queries), k), len(matrix), np.int64))
    if not k or not len(queries):
        return best
    for start in range(0, len(rows), block_size):
        ids = rows[start : start + block_size]
        # A slice of consecutive rows is read in one go; a list of rows is gathered.
        whole = ids[-1] - ids[0] + 1 == len(ids)
        block = _vectors(matrix[ids[0] : ids[-1] + 1] if whole else matrix[ids], ids, cosine, "matrix")
        for query, row in _candidates(queries, block, k, best[0][:, -1]):
            scores = _score(queries, block, query, row)
            best = _merge(best, query, ids[row], scores)
    return best


def build_ivf(
    matrix: NDArray, *, lists: int, codes: str = "Flat", train_rows: int, seed: int = 0, block_size: int = 1 << 16
) -> faiss.Index:
    """An inverted file over the rows by inner product: rows grouped around `lists` centroids.

    Args:
        matrix: (n, width) float, may be memory-mapped.
        lists: number of centroids (nlist); 4√n to 16√n is usual.
        codes: how a row is kept: `Flat` as float32, `SQ8` one byte a component.
        train_rows: rows drawn at random to find the centroids.
        seed: of that draw and of the centroids' start.
        block_size: rows in memory at a time.

    Raises:
        BadInput: fewer rows to train on than centroids, or a vector is not finite.
    """
    sample = np.sort(np.random.default_rng(seed).permutation(len(matrix))[:train_rows])
    if len(sample) < lists:
        raise BadInput("fewer rows than lists", field="lists", got=lists, expected=f"at most {len(sample)}")
    index = faiss.index_factory(matrix.shape[1], f"IVF{lists},{codes}", faiss.METRIC_INNER_PRODUCT)
    faiss.extract_index_ivf(index).cp.seed = seed
    if faiss.get_num_gpus():
        index = faiss.index_cpu_to_all_gpus(index)
    index.train(_vectors(matrix[sample], sample, False, "matrix"))
    for start in range(0, len(matrix), block_size):
        ids = np.arange(start, min(start + block_size, len(matrix)))
        index.add(_vectors(matrix[start : start + block_size], ids, False, "matrix"))
    return faiss.index_gpu_to_cpu(index) if faiss.get_num_gpus() else index


def ivf_search(queries: NDArray, index: faiss.Index, matrix: NDArray, k: int, *, probes: int) -> tuple[Scores, Ids]:
    """Search the `probes` lists nearest to each query; candidates are scored again with the matrix.

    Returns:
        as `exact_search`; a row is padded with id -1 and score -inf where fewer than k rows stand in its lists.

    Raises:
        BadInput: widths differ, or a query is not finite.
    """
    _check_width(queries, matrix)
    queries = _vectors(queries, np.arange(len(queries)), False, "query")
    faiss.extract_index_ivf(index).nprobe = probes
    k = min(k, len(matrix))
    _, found = index.search(queries, min(k + MARGIN, len(matrix)))
    scores = np.full(found.shape, -np.inf, np.float32)
    for start in range(0, len(queries), 256):  # 256 queries × their candidates in memory
        chunk = found[start : start + 256]
        rows, places = np.unique(chunk[chunk >= 0], return_inverse=True)
        owners = np.nonzero(chunk >= 0)[0] + start
        vectors = np.asarray(matrix[rows], dtype=np.float32)
        scores[start : start + 256][chunk >= 0] = _score(queries, vectors, owners, places)
    order = np.lexsort((found, -scores), axis=1)[:, :k]
    return np.take_along_axis(scores, order, axis=1), np.take_along_axis(found, order, axis=1)


def _check_width(queries: NDArray, matrix: NDArray) -> None:
    if queries.ndim != 2 or matrix.ndim != 2 or queries.shape[1] != matrix.shape[1]:
        raise BadInput("queries do not fit the matrix", got=queries.shape, expected=f"(queries, {matrix.shape[-1]})")


def _vectors(vectors: NDArray, ids: Ids, cosine: bool, name: str) -> Scores:
    """float32, finite, and of length 1 for the cosine."""
    vectors = np.ascontiguousarray(vectors, dtype=np.float32)
    good = np.isfinite(vectors).all(axis=1)
    if not good.all():
        raise BadInput(f"NaN or infinite value in a {name} vector", row=int(ids[np.argmin(good)]) + 1)
    if cosine:
        lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64))
        vectors = (vectors / np.where(lengths > 0, lengths, 1)[:, None]).astype(np.float32)
    return vectors


def _candidates(queries: Scores, block: Scores, k: int, least: Scores) -> Iterator[tuple[Ids, Ids]]:
    """Pairs (query, row in block) that hold all that could be among the k best and reach the `least` score so far."""
    # Bound on the error of a float32 inner product; two scores closer than this may be equal.
    lengths = np.linalg.norm(queries, axis=1) * np.linalg.norm(block, axis=1).max()
    error = (lengths * np.sqrt(block.shape[1]) * 2.0**-22)[:, None]
    waiting = np.arange(len(queries))
    width = min(k + MARGIN, len(block))
    while len(waiting):
        scores, rows = _knn(queries[waiting], block, width)
        cut = np.maximum(scores[:, min(k, width) - 1], least[waiting])[:, None] - error[waiting]
        # A list that ends above the cut may hide rows that tie with the k-th: look again, further down.
        complete = (scores[:, -1] < cut[:, 0]) | (width == len(block))
        query, place = np.nonzero((scores >= cut) & complete[:, None])
        if len(query):
            yield waiting[query], rows[query, place]
        waiting = waiting[~complete]
        width = min(4 * width, len(block))


def _knn(queries: Scores, block: Scores, k: int) -> tuple[Scores, Ids]:
    if faiss.get_num_gpus() and k <= GPU_MAX:
        return faiss.knn_gpu(_gpu(), queries, block, k, metric=faiss.METRIC_INNER_PRODUCT)
    return faiss.knn(queries, block, k, metric=faiss.METRIC_INNER_PRODUCT)


@cache
def _gpu() -> "faiss.StandardGpuResources":
    return faiss.StandardGpuResources()  # its buffers are made once a process


def _score(queries: Scores, block: Scores, query: Ids, row: Ids) -> Scores:
    """Inner products of pairs, in float64, rounded to float32."""
    scores = np.empty(len(query), np.float32)
    for start in range(0, len(query), PAIRS):
        part = slice(start, start + PAIRS)
        scores[part] = np.einsum("ij,ij->i", queries[query[part]], block[row[part]], dtype=np.float64)
    return scores


def _merge(best: tuple[Scores, Ids], query: Ids, ids: Ids, scores: Scores) -> tuple[Scores, Ids]:
    """The k best of each query among those so far and new (query, id, score) triples; ties by lower id."""
    count, k = best[0].shape
    query = np.concatenate([np.repeat(np.arange(count), k), query])
    scores = np.concatenate([best[0].ravel(), scores])
    ids = np.concatenate([best[1].ravel(), ids])
    order = np.lexsort((ids, -scores, query))
    first = np.searchsorted(query[order], np.arange(count))
    chosen = order[first[:, None] + np.arange(k)]
    return scores[chosen], ids[chosen]
