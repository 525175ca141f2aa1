"""Vectors are kept, found again, and go when they are wanted no more."""

import numpy as np
import pytest

from trivium.kvqae.asking.encoding import FILE, VectorStore, keep_only


def test_vectors_come_back_in_any_order(tmp_path):
    store = VectorStore(tmp_path, "d")
    store.add({"a": (np.array([1, 2], np.float32), None), "b": (None, "no face")})
    store.add({"c": (np.array([3, 4], np.float32), None)})
    again = VectorStore(tmp_path, "d")
    assert again.missing(["c", "x", "a", "x"]) == ["x"]
    assert again.take(["c", "a", "c"]).tolist() == [[3, 4], [1, 2], [3, 4]]
    assert again.take([]).shape == (0, 0)
    assert again.remarks(has_vector=False) == {"b": "no face"}
    for key in ("x", "b"):
        with pytest.raises(KeyError, match=key):
            again.take([key])
    assert VectorStore(tmp_path, "other").missing(["a"]) == ["a"]


def test_what_is_deleted_is_on_no_disk(tmp_path):
    store, secret = VectorStore(tmp_path, "d"), np.random.default_rng(0).normal(size=512).astype(np.float32)
    store.add({"a": (secret, None), "b": (np.array([5], np.float32), None)})
    assert secret.tobytes() in (tmp_path / FILE).read_bytes()
    keep_only(tmp_path, {"d": ["b"]})
    assert secret.tobytes() not in (tmp_path / FILE).read_bytes()
    assert store.missing(["a", "b"]) == ["a"]
    VectorStore(tmp_path, "e").add({"c": (secret, None)})
    keep_only(tmp_path, {"d": ["b"]})
    assert [path.name for path in tmp_path.iterdir()] == [FILE]
    assert secret.tobytes() not in (tmp_path / FILE).read_bytes()
    assert store.take(["b"]).tolist() == [[5]]
