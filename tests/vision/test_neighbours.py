from pathlib import Path

import faiss
import numpy as np
import pytest

from trivium.core.errors import BadInput
from trivium.vision.neighbours import build_ivf, exact_search, ivf_search, merge, read_ivf


def brute_force(queries, matrix, k):
    scores = queries.astype(np.float64) @ matrix.astype(np.float64).T
    ids = np.argsort(-scores, axis=1, kind="stable")[:, :k]  # stable: equal scores by lower id
    return np.take_along_axis(scores, ids, axis=1), ids


@pytest.fixture
def random_vectors():
    random = np.random.default_rng(0)
    return random.standard_normal((20, 24)).astype(np.float16), random.standard_normal((700, 24)).astype(np.float16)


def test_by_hand():
    matrix = np.array([[1, 0], [0, 2], [3, 1], [1, 0]], np.float16)
    scores, ids = exact_search(np.array([[1.0, 1.0], [1.0, 0.0]]), matrix, 3)
    # q0: 1, 2, 4, 1; q1: 1, 0, 3, 1: rows 0 and 3 tie, the lower comes first.
    np.testing.assert_array_equal(ids, [[2, 1, 0], [2, 0, 3]])
    np.testing.assert_array_equal(scores, [[4, 2, 1], [3, 1, 1]])


@pytest.mark.parametrize("block_size", [1, 7, 64, 699, 5000])
def test_brute_force_agrees_whatever_the_block(random_vectors, block_size):
    queries, matrix = random_vectors
    scores, ids = exact_search(queries, matrix, 50, block_size=block_size)
    expected_scores, expected_ids = brute_force(queries, matrix, 50)
    np.testing.assert_array_equal(ids, expected_ids)
    np.testing.assert_array_equal(scores, expected_scores.astype(np.float32))


@pytest.mark.parametrize("block_size", [100, 333, 10_000])
def test_masses_of_ties_go_to_the_lower_id(block_size):
    random = np.random.default_rng(1)
    # Small integers in few dimensions: hundreds of equal scores around the cut, far more than the margin.
    queries, matrix = random.integers(-2, 3, (30, 4)), random.integers(-2, 3, (2000, 4))
    scores, ids = exact_search(queries, matrix, 100, block_size=block_size)
    expected_scores, expected_ids = brute_force(queries, matrix, 100)
    np.testing.assert_array_equal(ids, expected_ids)
    np.testing.assert_array_equal(scores, expected_scores)


def test_copies_of_a_row_tie_exactly():
    random = np.random.default_rng(2)
    row, queries = random.standard_normal(384), random.standard_normal((5, 384))
    matrix = np.repeat(row[None], 300, axis=0).astype(np.float16)
    scores, ids = exact_search(queries, matrix, 10, block_size=97)
    np.testing.assert_array_equal(ids, np.tile(np.arange(10), (5, 1)))
    assert (scores == scores[:, :1]).all()


def test_cosine_divides_by_both_lengths(random_vectors):
    queries, matrix = (vectors.astype(np.float64) for vectors in random_vectors)
    matrix[5] = 0
    scores, ids = exact_search(3 * queries, matrix, len(matrix), cosine=True)
    lengths = np.linalg.norm(queries, axis=1)[:, None] * np.linalg.norm(matrix, axis=1)
    expected = np.divide(queries @ matrix.T, lengths, where=lengths > 0, out=np.zeros_like(lengths))
    np.testing.assert_allclose(scores, np.take_along_axis(expected, ids, axis=1), atol=1e-6)
    assert (np.diff(scores, axis=1) <= 0).all()
    assert (scores[ids == 5] == 0).all()


@pytest.mark.parametrize("rows", [np.arange(0, 700, 3), np.arange(100, 400), np.array([4])])
def test_only_the_given_rows_are_searched(random_vectors, rows):
    queries, matrix = random_vectors
    _, ids = exact_search(queries, matrix, 20, rows=rows, block_size=50)
    _, expected = brute_force(queries, matrix[rows], 20)
    np.testing.assert_array_equal(ids, rows[expected])


def test_fewer_rows_than_asked_for_and_nothing_at_all(random_vectors):
    queries, matrix = random_vectors
    assert exact_search(queries, matrix[:3], 10)[1].shape == (20, 3)
    assert exact_search(queries, matrix[:0], 10)[1].shape == (20, 0)
    assert exact_search(queries[:0], matrix, 10)[1].shape == (0, 10)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_vector_that_is_not_finite_is_named(random_vectors, value):
    queries, matrix = random_vectors
    bad = matrix.copy()
    bad[611, 3] = value
    with pytest.raises(BadInput, match="612: NaN or infinite value in a matrix vector"):
        exact_search(queries, bad, 5, block_size=100)
    with pytest.raises(BadInput, match="612: NaN or infinite value in a query"):
        exact_search(bad, matrix, 5)
    with pytest.raises(BadInput, match="612: NaN or infinite value in a matrix vector"):
        exact_search(queries, bad[600:], 5, first=600, block_size=7)
    with pytest.raises(BadInput, match="612: NaN or infinite value in a matrix vector"):
        build_ivf(bad, lists=2, train_rows=100, block_size=7)


@pytest.mark.parametrize("shards", [1, 2, 7])
def test_shards_of_rows_merge_to_the_whole_whatever_ties(shards):
    random = np.random.default_rng(4)
    queries, matrix = random.integers(-2, 3, (30, 4)), random.integers(-2, 3, (2000, 4))
    starts = [rows[0] for rows in np.array_split(np.arange(2000), shards)]
    pieces = zip(starts, np.array_split(matrix, shards), strict=True)
    parts = [exact_search(queries, piece, 100, first=start, block_size=90) for start, piece in pieces]
    for got, expected in zip(merge(parts, 100), exact_search(queries, matrix, 100), strict=True):
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_zeros_subnormals_and_the_largest_numbers_keep_their_order(dtype):
    limits = np.finfo(dtype)
    values = [0.0, -0.0, limits.smallest_subnormal, -limits.smallest_subnormal, limits.tiny, limits.max, limits.min]
    matrix = np.array(values, dtype)[:, None]
    scores, ids = exact_search(np.ones((1, 1)), matrix, 7)
    np.testing.assert_array_equal(ids, [[5, 4, 2, 0, 1, 3, 6]])  # the two zeros tie
    np.testing.assert_array_equal(scores[0], matrix[ids[0], 0].astype(np.float32))


def own_memory():
    """KiB that are no file's pages."""
    status = Path("/proc/self/status")
    if not status.exists():
        pytest.skip("memory is read in /proc")
    return int(status.read_text().split("RssAnon:")[1].split()[0])


def built(folder, matrix, **settings):
    """An inverted file on disk."""
    faiss.write_index(build_ivf(matrix, block_size=70, **settings), str(folder / "index.faiss"))
    return read_ivf(folder / "index.faiss")


def test_lists_on_disk_are_not_read_into_memory(tmp_path):
    own_memory()
    matrix = np.random.default_rng(6).standard_normal((60_000, 256)).astype(np.float16)
    built(tmp_path, matrix, lists=16, train_rows=2000)
    before = own_memory()
    again = read_ivf(tmp_path / "index.faiss")
    assert ivf_search(matrix[:5], again, matrix, 1, probes=16)[1].ravel().tolist() == list(range(5))
    assert again.ntotal == 60_000
    assert own_memory() - before < 8_000  # KiB, of 15 360 of codes


def test_ivf_finds_what_its_probes_cover(tmp_path):
    random = np.random.default_rng(3)
    matrix = random.standard_normal((3000, 32)).astype(np.float16)
    queries = random.standard_normal((40, 32)).astype(np.float16)
    index = built(tmp_path, matrix, lists=16, train_rows=2000)
    assert index.ntotal == 3000
    _, exact_ids = exact_search(queries, matrix, 10)
    recalls = []
    for probes in (1, 4, 16):
        _, ids = ivf_search(queries, index, matrix, 10, probes=probes)
        recalls.append(np.mean([np.isin(*pair).mean() for pair in zip(exact_ids, ids, strict=True)]))
    assert recalls[0] < recalls[1] < recalls[2]
    assert recalls[2] > 0.98  # all lists probed, candidates scored again
    whole = ivf_search(queries, index, matrix, 10, probes=3)
    parts = [ivf_search(queries[rows], index, matrix, 10, probes=3) for rows in (slice(0, 3), slice(3, 40))]
    for got, expected in zip(zip(*parts, strict=True), whole, strict=True):
        np.testing.assert_array_equal(np.concatenate(got), expected)


def test_ivf_pads_short_lists(tmp_path):
    matrix = np.array([[1, 0], [2, 0], [0, 1]], np.float32)
    index = built(tmp_path, matrix, lists=2, train_rows=3)
    scores, ids = ivf_search(np.array([[1.0, 0.0]]), index, matrix, 3, probes=1)
    np.testing.assert_array_equal(ids, [[1, 0, -1]])
    np.testing.assert_array_equal(scores, [[2, 1, -np.inf]])
