"""Vectors are kept, found again, and go when they are wanted no more."""

import numpy as np
import pytest

from trivium.core.errors import BadInput
from trivium.core.tables import read_table
from trivium.kvqae.asking.encoding import VectorStore


def content(folder):
    """All vectors in the files of a folder, as bytes."""
    return [vector for file in folder.rglob("*.*") for vector in read_table(file)["vector"].to_pylist()]


def test_vectors_come_back_in_any_order(tmp_path):
    store = VectorStore(tmp_path, "d")
    assert not list(tmp_path.iterdir())
    store.add({"a": (np.array([1, 2], np.float32), None), "b": (None, "no face")})
    store.add({"c": (np.array([3, 4], np.float32), "truncated")})
    for again in (store, VectorStore(tmp_path, "d")):
        assert again.missing(["c", "x", "a", "x"]) == ["x"]
        assert again.take(["c", "a", "c"]).tolist() == [[3, 4], [1, 2], [3, 4]]
        assert again.take([]).shape == (0, 0)
        assert again.stored["b"] == (None, "no face")
        assert again.stored["c"][1] == "truncated"
    assert VectorStore(tmp_path, "other").missing(["a"]) == ["a"]


def test_what_is_deleted_is_in_no_file(tmp_path):
    store, secret = VectorStore(tmp_path, "d"), np.random.default_rng(0).normal(size=512).astype(np.float32)
    store.add({"a": (secret, None), "b": (np.array([5], np.float32), None)})
    store.add({"b:view": (np.array([6], np.float32), None), "a:view": (secret, None)})
    assert secret.tobytes() in content(tmp_path)
    for again in (store, VectorStore(tmp_path, "d")):
        again.keep_only({"b"})
        assert secret.tobytes() not in content(tmp_path)
        assert again.missing(["a", "a:view", "b", "b:view"]) == ["a", "a:view"]


def test_a_file_that_was_cut_is_named(tmp_path):
    VectorStore(tmp_path, "d").add({"a": (np.array([1, 2], np.float32), None)})
    (file,) = (tmp_path / "d").iterdir()
    file.write_bytes(file.read_bytes()[:50])
    with pytest.raises(BadInput, match=f"{file}: not a readable Parquet file"):
        VectorStore(tmp_path, "d")
