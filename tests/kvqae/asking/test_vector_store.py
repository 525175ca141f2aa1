"""Vectors are kept, found again, and go when they are wanted no more."""

import numpy as np
import pytest

from trivium.kvqae.asking.vector_store import VectorStore


def test_vectors_come_back_in_any_order(tmp_path):
    store = VectorStore(tmp_path, "d")
    store.add(["a", "b"], [np.array([1, 2], np.float32), "no face"])
    store.add(["c"], [np.array([3, 4], np.float32)])
    again = VectorStore(tmp_path, "d")
    assert again.missing(["c", "x", "a", "x"]) == ["x"]
    assert again.take(["c", "b", "a", "c"]).tolist() == [[3, 4], [0, 0], [1, 2], [3, 4]]
    assert [again.blank(key) for key in "abc"] == [None, "no face", None]
    with pytest.raises(KeyError):
        again.take(["x"])
    assert VectorStore(tmp_path, "other").missing(["a"]) == ["a"]


def test_what_is_deleted_is_on_no_disk(tmp_path):
    store = VectorStore(tmp_path, "d")
    secret = np.array([0.123456], np.float32)
    store.add(["a", "b"], [secret, np.array([5], np.float32)])
    store.add(["c"], [secret])
    assert store.keep_only(["b"]) == 2
    left = list(tmp_path.rglob("*.parquet"))
    assert len(left) == 1
    assert secret.tobytes() not in left[0].read_bytes()
    assert store.missing(["a", "b"]) == ["a"]
    store.add(["e"], [secret])
    assert VectorStore(tmp_path, "d").take(["e", "b"]).tolist() == [secret.tolist(), [5]]


def test_only_pictures_without_a_vector(tmp_path):
    store = VectorStore(tmp_path, "d")
    store.add(["a"], ["corrupt"])
    assert VectorStore(tmp_path, "d").take(["a"]).shape == (1, 0)
