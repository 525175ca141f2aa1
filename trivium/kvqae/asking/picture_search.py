"""Which pictures of a base are like a new one: exact while there are few, by 8-bit codes when there are many.

Codes are an inverted file with one byte a component (`vision/neighbours.py`); the lists nearest to the picture are
searched, and what they find is scored again with the vectors on disk.
"""

import math
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trivium.core.atomic import write_atomically
from trivium.core.errors import BadInput
from trivium.core.matrices import read_matrix
from trivium.kvqae.asking.vector_store import Vectors
from trivium.vision.faiss_library import faiss
from trivium.vision.neighbours import fill_ivf, ivf_search, read_ivf, train_ivf

VECTORS, ROWS, CODES = "vectors.npy", "rows.npy", "codes.faiss"
MANY = 50_000  # pictures from which on codes are searched
DEEP = 100  # pictures that a search among many returns
PROBED = 0.02  # share of the lists that is searched
TRAINED = 40  # vectors a list from which the lists' centres are found


def lists_of(pictures: int) -> int:
    """How many lists there are for so many pictures: about 2√n, a power of 2."""
    return 2 ** round(math.log2(2 * math.sqrt(pictures)))


def write_codes(folder: Path) -> None:
    """Write the codes of a folder's vectors, beside them; `BadInput` where a vector is not finite."""
    matrix = read_matrix(folder / VECTORS)
    lists = lists_of(len(matrix))
    trained = train_ivf(matrix, lists=lists, codes="SQ8", train_rows=TRAINED * lists)
    with write_atomically(folder / CODES) as beside:
        faiss.write_index(fill_ivf(trained, matrix, 0), str(beside))


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
        self.matrix: Vectors = read_matrix(folder / VECTORS)
        self._index = None
        if not (folder / CODES).is_file():
            self.matrix = np.array(self.matrix, np.float32)
            return
        try:
            self._index = read_ivf(folder / CODES)
        except RuntimeError:
            raise BadInput("not an index of faiss, or damaged", file=folder / CODES) from None
        self._index.parallel_mode = 1  # threads share the lists of one question

    def nearest(self, vector: Vectors) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """(rows, cosines), best first: of all pictures while there are few, else of the `DEEP` best."""
        if self._index is None:
            cosines = self.matrix @ vector
            rows = np.argsort(-cosines, kind="stable")
            return rows, cosines[rows]
        probes = max(1, round(PROBED * self._index.nlist))
        [cosines], [rows] = ivf_search(vector[None], self._index, self.matrix, DEEP, probes=probes)
        return rows[rows >= 0], cosines[rows >= 0]
