"""Picture search of a large base of one's own, resident as 8-bit codes: `python -m bench.kb_search [pictures]`.

Vectors are drawn in clusters, as pictures of one kind of thing lie together: a hundred around a centre, with cosines of
about .7 to each other. A question is a vector of the base, disturbed to a cosine of about .9. Timed is the search of
all three encoders for one question, one question at a time, in a fresh process that has loaded the codes; recall@20 is
against exact search. On a machine that does other work, the processor's seconds tell more than the clock's.
"""

import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench import harness
from trivium.core.matrices import read_matrix, write_matrix
from trivium.kvqae.asking.recognition import VECTORS, PictureSearch, write_codes
from trivium.vision.faiss_library import faiss
from trivium.vision.neighbours import exact_search

PICTURES, WIDTHS, QUESTIONS, K = 1_500_000, (2048, 1024, 512), 100, 20
AROUND, SPREAD, DISTURBED = 100, 0.65, 0.5  # vectors a centre; how far they lie from it, and questions from them
LIMIT_MS, LIMIT_GIB, LEAST_RECALL = 100, 8, 0.95
AT_A_TIME = 10_000


def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def write_vectors(path: Path, pictures: int, width: int, seed: int = 0) -> None:
    """Clustered vectors of length 1, in half precision; the members of a cluster lie scattered over the file."""
    centres = -(-pictures // AROUND)
    with write_matrix(path, pictures, width) as matrix:
        for start in range(0, pictures, AT_A_TIME):
            rows = np.arange(start, min(start + AT_A_TIME, pictures))
            draw = np.random.default_rng([seed, 1, start])
            noise = draw.standard_normal((len(rows), width), np.float32)
            # Consecutive rows have consecutive centres, which are drawn again from their numbers.
            middle = np.concatenate([_centres(part, width, seed) for part in _runs(rows % centres)])
            matrix[rows[0] : rows[-1] + 1] = _unit(middle + SPREAD / np.sqrt(width) * noise)


def _runs(numbers: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Stretches of numbers within one block of centres."""
    cuts = np.flatnonzero((np.diff(numbers) != 1) | (numbers[1:] % AT_A_TIME == 0)) + 1
    return np.split(numbers, cuts)


_BLOCK: dict[tuple[int, int, int], NDArray[np.float32]] = {}


def _centres(numbers: NDArray[np.int64], width: int, seed: int) -> NDArray[np.float32]:
    """The centres of these consecutive numbers, all of one block."""
    block = int(numbers[0]) // AT_A_TIME
    if (width, seed, block) not in _BLOCK:
        drawn = np.random.default_rng([seed, 0, block]).standard_normal((AT_A_TIME, width), np.float32)
        _BLOCK[width, seed, block] = _unit(drawn)
    return _BLOCK[width, seed, block][numbers % AT_A_TIME]


def questions(matrix: NDArray, count: int = QUESTIONS, seed: int = 0) -> NDArray[np.float32]:
    """Disturbed vectors of a base."""
    draw = np.random.default_rng([seed, 2])
    rows = np.sort(draw.permutation(len(matrix))[:count])
    noise = draw.standard_normal((len(rows), matrix.shape[1]), np.float32)
    return _unit(matrix[rows].astype(np.float32) + DISTURBED / np.sqrt(matrix.shape[1]) * noise)


def search_all(root: Path, threads: int) -> dict[str, Any]:
    """Figures of a process that has loaded the codes of a folder and searches for one question after the other."""
    faiss.omp_set_num_threads(threads)
    loaded = [PictureSearch(folder) for folder in sorted(root.iterdir())]
    asked = [questions(each.matrix) for each in loaded]
    for each, several in zip(loaded, asked, strict=True):
        each.nearest(several[0])
    found, clock, processor = [], [], []
    for row in range(len(asked[0])):
        started, worked = time.perf_counter(), time.process_time()
        found.append([each.nearest(several[row])[0][:K] for each, several in zip(loaded, asked, strict=True)])
        clock.append(1000 * (time.perf_counter() - started))
        processor.append(1000 * (time.process_time() - worked))
    return {
        "found": [[rows.tolist() for rows in several] for several in found],
        "clock": clock,
        "processor": processor,
        "gib": harness.peak_mib() / 2**10,
    }


def recall(root: Path, found: list[list[list[int]]]) -> dict[str, float]:
    """recall@K of each encoder beside exact search."""
    figures = {}
    for place, folder in enumerate(sorted(root.iterdir())):
        matrix = read_matrix(folder / VECTORS)
        _, exact = exact_search(questions(matrix), matrix, K)
        shares = [np.isin(rows, several[place]).mean() for rows, several in zip(exact, found, strict=True)]
        figures[folder.name] = float(np.mean(shares))
    return figures


def main(pictures: int = PICTURES) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        root, built = Path(temporary), {}
        for width in WIDTHS:
            folder = root / str(width)
            folder.mkdir()
            write_vectors(folder / VECTORS, pictures, width)
            built[str(width)] = harness.once(lambda folder=folder: write_codes(folder))  # type: ignore[misc]
            print(f"{width}: codes in {built[str(width)]:.0f} s", flush=True)
        measured = in_process(root)
        figures = {
            "pictures": pictures,
            "widths": list(WIDTHS),
            "search_ms": {name: float(np.median(measured[name])) for name in ("clock", "processor")},
            "search_ms_95": {name: float(np.quantile(measured[name], 0.95)) for name in ("clock", "processor")},
            "resident_gib": measured["gib"],
            "recall@20": recall(root, measured["found"]),
            "build_seconds": built,
            "limits": {"search_ms": LIMIT_MS, "resident_gib": LIMIT_GIB, "recall@20": LEAST_RECALL},
            "versions": {"faiss": faiss.__version__, **harness.versions("numpy")},
        }
        harness.write("kb_search", figures)


def in_process(root: Path, threads: int = 2) -> dict[str, Any]:
    """`search_all` in a fresh process, whose memory is its own."""
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(search_all, root, threads).result()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
