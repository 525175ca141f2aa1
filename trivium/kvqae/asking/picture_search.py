"""Which pictures of a base are like a new one: exact while there are few, by 8-bit codes in memory when there are many.

Codes are an inverted file (faiss) with one byte a component; the lists nearest to the picture are searched. What they
find is scored again with the vectors on disk. One question uses all cores.
"""

import math
import mmap
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trivium.core.atomic import write_atomically
from trivium.core.errors import BadInput
from trivium.core.matrices import read_matrix
from trivium.kvqae.asking.vector_store import Vectors
from trivium.vision.faiss_library import faiss
from trivium.vision.neighbours import MARGIN

VECTORS, ROWS, CODES = "vectors.npy", "rows.npy", "codes.faiss"
MANY = 50_000  # pictures from which on codes are searched
DEEP = 100  # pictures that a search among many returns
PROBED = 0.02  # share of the lists that is searched
TRAINED, ROUNDS = 40, 4  # vectors a list, and rounds, that find the lists' centres
AT_A_TIME = 16_384  # vectors in memory


def lists_of(pictures: int) -> int:
    """How many lists there are for so many pictures: about 2√n, a power of 2."""
    return 2 ** round(math.log2(2 * math.sqrt(pictures)))


def write_codes(folder: Path, *, seed: int = 0) -> None:
    """Write the codes of a folder's vectors, beside them.

    Raises:
        BadInput: a vector is not finite.
    """
    matrix = read_matrix(folder / VECTORS)
    lists = lists_of(len(matrix))
    index = faiss.index_factory(matrix.shape[1], f"IVF{lists},SQ8", faiss.METRIC_INNER_PRODUCT)
    inverted = faiss.extract_index_ivf(index)
    inverted.cp.seed, inverted.cp.niter = seed, ROUNDS
    drawn = np.sort(np.random.default_rng(seed).permutation(len(matrix))[: TRAINED * lists])
    index.train(_finite(matrix[drawn], folder))
    for start in range(0, len(matrix), AT_A_TIME):
        index.add(_finite(matrix[start : start + AT_A_TIME], folder))
    with write_atomically(folder / CODES) as beside:
        faiss.write_index(index, str(beside))


def _finite(vectors: NDArray, folder: Path) -> Vectors:
    found = np.ascontiguousarray(vectors, np.float32)
    if not np.isfinite(found).all():
        raise BadInput("NaN or infinite value in a vector", file=folder / VECTORS)
    return found


class PictureSearch:
    """The vectors of one encoder.

    Args:
        folder: `vectors.npy` (n, width) of length 1, and `codes.faiss` where there are many.

    Attributes:
        matrix: the vectors; memory-mapped where there are codes.

    Raises:
        BadInput: a file is missing or damaged.
    """

    def __init__(self, folder: Path) -> None:
        matrix = read_matrix(folder / VECTORS)
        self._index: faiss.Index | None = None
        self._map: mmap.mmap | None = getattr(matrix, "_mmap", None)
        self._first: int = getattr(matrix, "offset", 0) % mmap.ALLOCATIONGRANULARITY  # where the map's first row is
        if (folder / CODES).is_file():
            try:
                self._index = faiss.read_index(str(folder / CODES))
            except RuntimeError:
                raise BadInput("not an index of faiss, or damaged", file=folder / CODES) from None
            inverted = faiss.extract_index_ivf(self._index)
            inverted.parallel_mode = 1  # threads share the lists of one question
            inverted.nprobe = max(1, round(PROBED * inverted.nlist))
            if self._map is not None:
                self._map.madvise(mmap.MADV_RANDOM)  # the few rows that are scored again lie far apart
        self.matrix: Vectors = matrix if self._index is not None else np.asarray(matrix, np.float32)

    def __len__(self) -> int:
        return len(self.matrix)

    def nearest(self, vector: Vectors) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """(rows, cosines), best first: of all pictures while there are few, else of the `DEEP` best."""
        if self._index is None:
            cosines = self.matrix @ vector
            rows = np.argsort(-cosines, kind="stable")
            return rows, cosines[rows]
        # One question at a time, so that what faiss chooses cannot depend on what is asked beside it.
        _, [found] = self._index.search(np.asarray(vector[None], np.float32), DEEP + MARGIN)
        rows = np.sort(found[found >= 0])
        self._fetch(rows)
        cosines = np.asarray(self.matrix[rows], np.float32) @ vector
        if self._map is not None:
            self._map.madvise(mmap.MADV_DONTNEED)  # the system keeps them as long as it likes, this process does not
        best = np.argsort(-cosines, kind="stable")[:DEEP]
        return rows[best], cosines[best]

    def _fetch(self, rows: NDArray[np.int64]) -> None:
        """Have the disk read the rows side by side, rather than each as it is looked at."""
        if self._map is None:
            return
        size = self.matrix[:1].nbytes
        for start in (self._first + rows * size).tolist():
            page = start - start % mmap.PAGESIZE
            self._map.madvise(mmap.MADV_WILLNEED, page, start + size - page)
