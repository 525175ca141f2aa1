"""ODmAP@10 at the paper's size, compared with plain loops and with faiss and NumPy: `python -m bench.odmap`.

Embeddings are given, in half precision, in a memory-mapped file. Timed are the exact search for the ten best captions
of every query, and the judging of these captions by the classes that they name. The popular way is a plain loop, as in
evaluation scripts: for each query a matrix-vector product with the gallery and a full sort, for each retrieved caption
sets of class names. An expert calls `faiss.knn` and judges by arrays. Both peers get the gallery in float32, in memory.
`RACED` queries are raced; all of them are timed without peers. Resident memory counts the pages of the mapped matrix,
which the system reclaims when memory is short.
"""

import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench import harness
from trivium.core.matrices import read_matrix, write_matrix
from trivium.decorrelation.retrieval.ranking import top_captions
from trivium.measures.odmap import odmap
from trivium.vision.neighbours import faiss

CAPTIONS, WIDTH, CLASSES, QUERIES, K = 616_435, 512, 80, 5_000, 10
RACED = 250  # queries of the race
LOOPED = 20  # queries that the loop is timed on
SEARCH_WHY = (
    "faiss.knn starts from float32 in memory and leaves scores that agree in float32 in an order of chance; to widen "
    "halves from a file and to score what is found again in float64 comes on top"
)
JUDGING_WHY = "the classes of a sentence are checked, and several k are given at once"
LIMIT_SECONDS, LIMIT_MIB = 90, 4096
CLOSE = {"scores": 1e-6, "values": 1e-12}  # tolerance of products of unit vectors in float32, and of ODmAP

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
    """Draw flags (named, removed, remaining): a caption names two classes on average, a picture loses one of four."""
    rng = np.random.default_rng(2)
    named = rng.random((captions, CLASSES), dtype=np.float32) < 2 / CLASSES
    order = rng.permuted(np.tile(np.arange(CLASSES), (queries, 1)), axis=1)
    return named, order == 0, (order >= 1) & (order <= 3)


def measure(path: Path, queries: int) -> NDArray[np.float64]:
    """Search, then compute ODmAP@k of every query: the work that is timed."""
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
    """Compute ODmAP@k caption by caption."""
    values = []
    for captions, gone, rest in zip(ranked, removed, remaining, strict=True):
        total, right = 0.0, 0
        for rank, caption in enumerate(captions, 1):
            if named[caption] & rest and not named[caption] & gone:
                right += 1
                total += right / rank
        values.append(total / K)
    return values


def judge_by_arrays(ranked: NDArray[np.int64], named: Flags, removed: Flags, remaining: Flags) -> NDArray[np.float64]:
    """Compute ODmAP@k as an expert would."""
    of_sentences = named[ranked]
    right = (of_sentences & remaining[:, None]).any(axis=2) & ~(of_sentences & removed[:, None]).any(axis=2)
    return (right * right.cumsum(axis=1) / np.arange(1, K + 1)).sum(axis=1) / K


def by_faiss(gallery: NDArray[np.float32], questions: NDArray[np.float32]) -> NDArray[np.int64]:
    """Rank captions as an expert would."""
    return faiss.knn(questions, gallery, K, metric=faiss.METRIC_INNER_PRODUCT)[1]


def count_misplaced(
    ours: NDArray[np.int64], theirs: NDArray[np.int64], gallery: NDArray[np.float32], questions: NDArray[np.float32]
) -> int:
    """Count the places where two ranked lists have different captions; the scores there must agree in float32.

    Raises:
        AssertionError: a score differs.
    """
    scores = [np.einsum("qkw,qw->qk", gallery[ranked], questions, dtype=np.float64) for ranked in (ours, theirs)]
    np.testing.assert_allclose(scores[1], scores[0], rtol=0, atol=CLOSE["scores"])
    return int((ours != theirs).sum())


def by_loops(path: Path, queries: int) -> None:
    """Search and judge by loops, to measure their memory."""
    gallery = np.asarray(read_matrix(path), dtype=np.float32)
    sets = [[set(np.flatnonzero(row).tolist()) for row in matrix] for matrix in classes(len(gallery), queries)]
    judging_loop(search_loop(gallery, pictures(queries)), *sets)


def main() -> None:
    flags = classes(CAPTIONS, QUERIES)
    questions = pictures(QUERIES)
    with tempfile.TemporaryDirectory() as temporary:
        path, tenth = Path(temporary) / "gallery.npy", Path(temporary) / "tenth.npy"
        write_gallery(path, CAPTIONS)
        write_gallery(tenth, CAPTIONS // 10)
        measure(path, LOOPED)  # starts the threads, reads the file
        seconds = harness.once(partial(measure, path, QUERIES))
        mib = {
            "peak_mib": harness.peak_memory(measure, tenth, QUERIES),
            "peak_mib_ten_times_the_captions": harness.peak_memory(measure, path, QUERIES),
            "loop_mib": harness.peak_memory(by_loops, tenth, LOOPED),
            "loop_mib_ten_times_the_captions": harness.peak_memory(by_loops, path, LOOPED),
        }
        gallery = read_matrix(path)
        in_memory, raced = np.asarray(gallery, dtype=np.float32), questions[:RACED]
        _, ranked = top_captions(raced, gallery, K)
        by_the_loop = np.array(search_loop(in_memory, raced[:LOOPED]))
        places = {
            "misplaced_by_the_loop": count_misplaced(ranked[:LOOPED], by_the_loop, in_memory, raced[:LOOPED]),
            "misplaced_by_faiss": count_misplaced(ranked, by_faiss(in_memory, raced), in_memory, raced),
        }
        search = harness.race(
            lambda: top_captions(raced, gallery, K),
            harness.Peer("a loop", lambda: search_loop(in_memory, raced[:LOOPED]), min(LOOPED / len(raced), 1.0)),
            harness.Peer("faiss.knn", lambda: by_faiss(in_memory, raced)),
            gflop=2e-9 * len(raced) * gallery.size,
            gigabytes=gallery.nbytes * 1e-9,
            why=SEARCH_WHY,
        )
    # The time of judging does not depend on how good captions are, so the same lists are repeated for all queries.
    lists = np.resize(ranked, (QUERIES, K))
    as_lists, sets = lists.tolist(), [[set(np.flatnonzero(row).tolist()) for row in matrix] for matrix in flags]
    values = odmap(lists, *flags, [K])[K]
    differences = [values - other for other in (judging_loop(as_lists, *sets), judge_by_arrays(lists, *flags))]
    np.testing.assert_allclose(differences, 0, atol=CLOSE["values"])
    judging = harness.race(
        lambda: odmap(lists, *flags, [K]),
        harness.Peer("a loop", lambda: judging_loop(as_lists, *sets)),
        harness.Peer("NumPy, 3 lines", lambda: judge_by_arrays(lists, *flags)),
        gigabytes=1e-9 * QUERIES * (K + 2) * CLASSES,
        why=JUDGING_WHY,
    )
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
            "races": {
                f"search, {len(raced)} pictures, {CAPTIONS} captions": search,
                f"judging, {QUERIES} lists of {K}": judging,
            },
            **places,
            "largest_difference_of_values": float(np.abs(differences).max()),
            "versions": harness.versions("faiss-cpu", "numpy"),
        },
    )


if __name__ == "__main__":
    main()
