"""ODmAP@10 at the paper's size, against plain loops: `python -m bench.odmap`.

Embeddings are given, in half precision, in a mapped file: what is timed is the exact search for the ten best captions
of every query, and the judging of these sentences by the classes that they name. The peer is a plain loop, as
evaluation scripts have it: over queries, a matrix-vector product with the gallery (float32, already in memory) and a
full sort; over retrieved sentences, sets of class names. The loop over queries is timed on a few of them and scaled to
all. Resident memory counts the pages of the mapped matrix, which the system takes back when it runs short.
"""

import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench import harness
from trivium.decorrelation.retrieval.caption_search import top_captions
from trivium.files.matrices import read_matrix, write_matrix
from trivium.measures.odmap import odmap

CAPTIONS, WIDTH, CLASSES, QUERIES, K = 616_435, 512, 80, 5_000, 10
LOOPED = 20  # queries that the loop is timed on
LIMIT_SECONDS, LIMIT_MIB = 90, 4096

Flags = NDArray[np.bool_]


def write_gallery(path: Path, captions: int) -> None:
    rng = np.random.default_rng(0)
    with write_matrix(path, captions, WIDTH) as matrix:
        for start in range(0, captions, 10_000):
            vectors = rng.standard_normal((min(10_000, captions - start), WIDTH), dtype=np.float32)
            matrix[start : start + len(vectors)] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def pictures(count: int) -> NDArray[np.float32]:
    vectors = np.random.default_rng(1).standard_normal((count, WIDTH), dtype=np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def classes(captions: int, queries: int) -> tuple[Flags, Flags, Flags]:
    """(named, removed, remaining): a caption names two classes on average; one goes from a picture, three stay."""
    rng = np.random.default_rng(2)
    named = rng.random((captions, CLASSES), dtype=np.float32) < 2 / CLASSES
    order = rng.permuted(np.tile(np.arange(CLASSES), (queries, 1)), axis=1)
    return named, order == 0, (order >= 1) & (order <= 3)


def measure(path: Path, queries: int) -> NDArray[np.float64]:
    """What is timed: search, then ODmAP@k of every query."""
    gallery = read_matrix(path)
    _, ranked = top_captions(pictures(queries), gallery, K)
    return odmap(ranked, *classes(len(gallery), queries), [K])[K]


def search_loop(gallery: NDArray[np.float32], questions: NDArray[np.float32]) -> list[list[int]]:
    return [np.argsort(-(gallery @ question))[:K].tolist() for question in questions]


def judging_loop(
    ranked: Sequence[Sequence[int]],
    named: Sequence[set[int]],
    removed: Sequence[set[int]],
    remaining: Sequence[set[int]],
) -> list[float]:
    """ODmAP@k sentence by sentence."""
    values = []
    for captions, gone, there in zip(ranked, removed, remaining, strict=True):
        total, right = 0.0, 0
        for rank, caption in enumerate(captions, 1):
            if named[caption] & there and not named[caption] & gone:
                right += 1
                total += right / rank
        values.append(total / K)
    return values


def by_loops(path: Path, queries: int) -> None:
    """What the loops' memory is measured on."""
    gallery = np.asarray(read_matrix(path), dtype=np.float32)
    sets = [[set(np.flatnonzero(row).tolist()) for row in each] for each in classes(len(gallery), queries)]
    judging_loop(search_loop(gallery, pictures(queries)), *sets)


def main() -> None:
    flags = classes(CAPTIONS, QUERIES)
    sets = [[set(np.flatnonzero(row).tolist()) for row in each] for each in flags]
    questions = pictures(QUERIES)
    with tempfile.TemporaryDirectory() as temporary:
        path = Path(temporary) / "gallery.npy"
        write_gallery(path, CAPTIONS)
        measure(path, LOOPED)  # starts the threads, reads the file
        seconds = harness.once(partial(measure, path, QUERIES))
        tenth = path.with_name("tenth.npy")
        write_gallery(tenth, CAPTIONS // 10)
        mib = {
            "peak_mib": harness.peak_memory(measure, tenth, QUERIES),
            "peak_mib_ten_times_the_captions": harness.peak_memory(measure, path, QUERIES),
            "loop_mib": harness.peak_memory(by_loops, tenth, LOOPED),
            "loop_mib_ten_times_the_captions": harness.peak_memory(by_loops, path, LOOPED),
        }
        _, ranked = top_captions(questions[:LOOPED], read_matrix(path), K)
        in_memory = np.asarray(read_matrix(path), dtype=np.float32)
    found = search_loop(in_memory, questions[:LOOPED])
    search_seconds = harness.once(partial(search_loop, in_memory, questions[:LOOPED])) * QUERIES / LOOPED
    # Judging does not depend on how good the sentences are: the same lists again and again make all the queries.
    lists = np.resize(ranked, (QUERIES, K))
    as_lists = lists.tolist()
    judging = harness.measure(partial(odmap, lists, *flags, [K]), repeats=5)
    looped_judging = harness.measure(partial(judging_loop, as_lists, *sets), repeats=3)
    difference = np.abs(odmap(lists, *flags, [K])[K] - judging_loop(as_lists, *sets)).max()
    harness.write(
        "odmap",
        {
            "captions": CAPTIONS,
            "width": WIDTH,
            "classes": CLASSES,
            "queries": QUERIES,
            "k": K,
            "seconds": seconds,
            **mib,
            "limits": {"seconds": LIMIT_SECONDS, "peak_mib_ten_times_the_captions": LIMIT_MIB},
            "loop_queries_timed": LOOPED,
            "loop_seconds_scaled": search_seconds + looped_judging,
            "times_faster": (search_seconds + looped_judging) / seconds,
            "judging_seconds": judging,
            "loop_judging_seconds": looped_judging,
            "judging_times_faster": looped_judging / judging,
            "misplaced_against_loop": int((ranked != np.array(found)).sum()),
            "largest_difference_from_loop": float(difference),
            "versions": harness.versions("faiss-gpu", "numpy"),
        },
    )


if __name__ == "__main__":
    main()
