import numpy as np
import pytest

from trivium.errors import BadInput
from trivium.files import matrices


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
