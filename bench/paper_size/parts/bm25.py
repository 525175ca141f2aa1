"""Lucene's index of passages of a hundred words, and its search for 1 250 questions."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from trivium.core.tables import read_batches, write_table
from trivium.kvqae.retrieval.bm25 import Searcher, build_index

SIZE, UNIT = 12_000_000, "passages"
WORDS, VOCABULARY, AT_A_TIME = 100, 500_000, 10_000
QUESTIONS, ASKED, DEPTH, K1, B, THREADS, HEAP = 1250, 8, 100, 0.9, 0.4, 2, 4
SCHEMA = pa.schema({"text": pa.string()})


def texts(size: int, words: int, seed: int) -> Iterator[list[str]]:
    """Invent texts with words drawn by Zipf's law."""
    rng = np.random.default_rng(seed)
    chances = np.cumsum(1 / (np.arange(VOCABULARY) + 3))
    vocabulary = np.array([f"w{number:x}" for number in range(VOCABULARY)], object)
    for start in range(0, size, AT_A_TIME):
        drawn = rng.random((min(AT_A_TIME, size - start), words)) * chances[-1]
        yield [" ".join(row) for row in vocabulary[np.searchsorted(chances, drawn)].tolist()]


def make(folder: Path, size: int) -> None:
    batches = (pa.RecordBatch.from_pydict({"text": column}, SCHEMA) for column in texts(size, WORDS, 0))
    write_table(folder / "passages.parquet", batches, SCHEMA)


def run(folder: Path, out: Path) -> None:
    def documents() -> Iterator[tuple[int, str]]:
        number = 0
        for batch in read_batches(folder / "passages.parquet", AT_A_TIME, ["text"]):
            for text in batch["text"].to_pylist():
                yield number, text
                number += 1

    build_index(out / "index", documents(), analyzer="standard", threads=THREADS, heap_gib=HEAP)
    queries = next(texts(QUESTIONS, ASKED, 1))
    questions = [(f"q{number:04}", text) for number, text in enumerate(queries)]
    Searcher(out / "index", threads=THREADS, heap_gib=HEAP).search(questions, k1=K1, b=B, depth=DEPTH)
