"""Read and write memory-mapped `.npy` matrices; the writer is atomic."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tokenize import TokenError

import numpy as np

from trivium.core.atomic import write_atomically
from trivium.core.errors import BadInput
from trivium.core.reading import refuse_other, require_file
from trivium.core.tables import read_json_lines


@contextmanager
def write_matrix(path: Path, rows: int, columns: int) -> Iterator[np.memmap]:
    """Yield a writable, memory-mapped `.npy` of zeros, float16 (rows, columns); renamed when the block succeeds."""
    with write_atomically(path) as temporary:
        if rows == 0:  # an empty file cannot be memory-mapped
            np.save(temporary, np.zeros((0, columns), np.float16))
            yield np.zeros((0, columns), np.float16)  # type: ignore[misc]
            return
        matrix = np.lib.format.open_memmap(temporary, mode="w+", dtype=np.float16, shape=(rows, columns))
        with temporary.open("r+b") as file:  # a hole that cannot be filled later would kill the process (SIGBUS)
            os.posix_fallocate(file.fileno(), 0, temporary.stat().st_size)
        yield matrix
        matrix.flush()


def read_matrix(path: Path) -> np.ndarray:
    """Open a `.npy` read-only and memory-mapped; `BadInput` when it is not one of numbers, or is cut off."""
    require_file(path)
    try:
        matrix = np.lib.format.open_memmap(path, mode="r")
    except (ValueError, OSError, SyntaxError, TokenError, TypeError, OverflowError, MemoryError) as error:
        refuse_other(path)
        raise BadInput(f"not a NumPy matrix, or a damaged one: {error}", file=path) from None
    if matrix.dtype.kind not in "biuf":
        raise BadInput("not a matrix of numbers", file=path, got=str(matrix.dtype))
    return matrix


def join_matrices(files: Iterable[Path], out: Path) -> None:
    """Write the rows of `.npy` files, all of one width, below each other, file by file."""
    parts = [read_matrix(file) for file in files]
    header = np.lib.format.header_data_from_array_1_0(parts[0])
    header["shape"] = (sum(map(len, parts)), *parts[0].shape[1:])
    with write_atomically(out) as draft, draft.open("wb") as file:  # a memory map on a full disk ends in a signal
        np.lib.format.write_array_header_1_0(file, header)
        for part in parts:
            file.write(np.ascontiguousarray(part).tobytes())


@dataclass(frozen=True)
class MatrixRows:
    """Consecutive rows of a matrix; to a machine without its file these rows alone go, as an array."""

    matrix: Path | np.ndarray  # its `.npy`, or on such a machine the rows
    start: int  # the first row, from 0
    stop: int  # one after the last

    def read(self) -> np.ndarray:
        """These rows; of a file memory-mapped, see `read_matrix`."""
        return read_matrix(self.matrix)[self.start : self.stop] if isinstance(self.matrix, Path) else self.matrix


def check_finite(matrix: np.ndarray, path: Path, chunk: int = 65536) -> None:
    """Raise `BadInput` at the first row with NaN or infinity; reads `chunk` rows at a time."""
    for start in range(0, len(matrix), chunk):
        good = np.isfinite(matrix[start : start + chunk]).all(axis=tuple(range(1, matrix.ndim)))
        if not good.all():
            raise BadInput("NaN or infinite value", file=path, row=start + int(np.argmin(good)) + 1)


def read_named_rows(folder: Path, part: str) -> tuple[list[str], np.ndarray]:
    """The vectors of `{part}.npy`, (rows, width), with the `id` of each in line n of `{part}.jsonl`.

    Raises:
        BadInput: a file is missing, is no matrix of numbers, holds NaN, or has another count than the ids.
    """
    file, ids = folder / f"{part}.npy", folder / f"{part}.jsonl"
    matrix = read_matrix(file)
    if matrix.ndim != 2:
        raise BadInput("not a matrix", file=file, got=matrix.shape, expected="(rows, d)")
    check_finite(matrix, file)
    names: list[str] = []
    for row, line in read_json_lines(ids):
        if not isinstance(line.get("id"), str | int):
            raise BadInput("no id", file=ids, row=row, field="id", got=line.get("id"))
        names.append(str(line["id"]))
    if len(names) != len(matrix):
        raise BadInput("another count of embeddings than of ids", file=file, got=len(matrix),
                       expected=f"{len(names)}, as in {ids.name}")  # fmt: skip
    return names, matrix
