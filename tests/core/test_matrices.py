import numpy as np
import pytest

from trivium.core import matrices
from trivium.core.errors import BadInput


def test_matrix_is_memory_mapped_and_absent_after_failure(tmp_path):
    path = tmp_path / "m.npy"
    with matrices.write_matrix(path, 3, 2) as matrix:
        matrix[1] = [1, 2]
    back = matrices.read_matrix(path)
    assert isinstance(back, np.memmap)
    assert back.dtype == np.float16
    np.testing.assert_array_equal(back, [[0, 0], [1, 2], [0, 0]])
    with pytest.raises(RuntimeError), matrices.write_matrix(tmp_path / "n.npy", 3, 2):
        raise RuntimeError
    assert [file.name for file in tmp_path.iterdir()] == ["m.npy"]


@pytest.mark.parametrize("chunk", [1, 2, 100])
def test_not_finite_names_the_row(tmp_path, chunk):
    matrix = np.ones((5, 2), np.float16)
    matrices.check_finite(matrix, tmp_path, chunk)
    matrix[3, 1] = np.nan
    with pytest.raises(BadInput, match=":4: NaN"):
        matrices.check_finite(matrix, tmp_path, chunk)


def test_a_matrix_that_is_cut_off_is_refused_and_an_empty_one_is_read(tmp_path):
    path = tmp_path / "m.npy"
    np.save(path, np.ones((10, 3), np.float32))
    whole = path.read_bytes()
    for cut in (0, 5, 20, 100, 128, len(whole) - 1):
        path.write_bytes(whole[:cut])
        with pytest.raises(BadInput, match=r"m\.npy: not a NumPy matrix, or a damaged one"):
            matrices.read_matrix(path)
    np.save(path, np.zeros((0, 3), np.float32))
    assert matrices.read_matrix(path).shape == (0, 3)


def test_joined_matrices_are_the_bytes_of_the_whole(tmp_path):
    whole = np.arange(30, dtype=np.float16).reshape(5, 3, 2)
    for name, rows in (("a", whole[:2]), ("b", whole[2:2]), ("c", whole[2:]), ("whole", whole)):
        np.save(tmp_path / f"{name}.npy", rows)
    matrices.join_matrices((tmp_path / f"{name}.npy" for name in "abc"), tmp_path / "joined.npy")
    assert (tmp_path / "joined.npy").read_bytes() == (tmp_path / "whole.npy").read_bytes()
