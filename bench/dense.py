"""Exact dense search compared with sentence-transformers and faiss, and memory (kvqae.md §3): `python -m bench.dense`.

Both peers get the vectors in float32, in memory; ours reads float16 from a memory-mapped file. The peers order scores
in float32, so a peer's list may differ from ours where scores are equal up to float32's rounding, but nowhere else.
Resident memory counts the pages of the mapped matrix, which the system reclaims when memory is short.
"""

import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import torch
from numpy.typing import NDArray
from transformers import BertConfig, BertModel, BertTokenizer

from bench import harness
from trivium.core.matrices import read_matrix, write_matrix
from trivium.core.tables import write_table
from trivium.kvqae.retrieval.text_encoders import TextEncoderParameters
from trivium.kvqae.retrieval.text_encoding import EncodeTextsParameters, encode_part, passage_parts
from trivium.vision.neighbours import exact_search, faiss

ROWS, WIDTH, QUERIES, K = 100_000, 384, 1250, 100
WORDS = 40
RACED, FEW = 2 * ROWS, 250  # questions of sentence-transformers, which is slow
CLOSE = 5e-4  # tolerance of scores up to 100, sums of 384 products in float32
WHY = (
    "faiss.knn leaves scores that agree in float32 in an order of chance and starts from float32 in memory; to score "
    "what is found again in float64, and to widen halves from a file, comes on top"
)


def write_vectors(path: Path, rows: int) -> None:
    rng = np.random.default_rng(0)
    with write_matrix(path, rows, WIDTH) as matrix:
        for start in range(0, rows, 10_000):
            matrix[start : start + 10_000] = rng.standard_normal((min(10_000, rows - start), WIDTH))


def queries() -> NDArray[np.float16]:
    return np.random.default_rng(1).standard_normal((QUERIES, WIDTH)).astype(np.float16)


def by_faiss(questions: NDArray[np.float32], matrix: NDArray[np.float32]) -> tuple[NDArray, NDArray]:
    """Search with faiss, as an expert would."""
    return faiss.knn(questions, matrix, K, metric=faiss.METRIC_INNER_PRODUCT)


def by_sentence_transformers(questions: torch.Tensor, matrix: torch.Tensor) -> tuple[NDArray, NDArray]:
    """Search with sentence-transformers: blocks of products, torch's `topk`, a Python heap."""
    from sentence_transformers.util import dot_score, semantic_search

    hit_lists = semantic_search(questions, matrix, top_k=K, score_function=dot_score)
    scores, rows = ([[hit[name] for hit in hits] for hits in hit_lists] for name in ("score", "corpus_id"))
    return np.array(scores, np.float32), np.array(rows)


def check_same(ours: tuple[NDArray, NDArray], theirs: tuple[NDArray, NDArray]) -> int:
    """Count the places where two ranked lists differ; the scores there must agree in float32.

    Raises:
        AssertionError: a score differs.
    """
    np.testing.assert_allclose(theirs[0], ours[0], rtol=0, atol=CLOSE)
    return int((theirs[1] != ours[1]).sum())


def search_file(path: Path) -> None:
    exact_search(queries(), read_matrix(path), K)


def faiss_file(path: Path) -> None:
    by_faiss(queries().astype(np.float32), read_matrix(path).astype(np.float32))


def write_passages(folder: Path, count: int) -> None:
    rng = np.random.default_rng(0)
    texts = [" ".join(f"w{word}" for word in rng.integers(0, 500, WORDS)) for _ in range(count)]
    table = pa.table({"article": np.arange(count) // 8, "text": texts})
    kb = folder / str(count)
    write_table(kb / "passages.parquet", table.replace_schema_metadata({"kb_passages": str(count)}))
    write_table(
        folder / str(count) / "articles.parquet", pa.table({"title": [f"w{row % 500}" for row in range(count)]})
    )


def write_small_bert(folder: Path) -> None:
    """Write a BERT of two narrow layers, since only the memory around the encoder is measured."""
    config = BertConfig(
        vocab_size=505, hidden_size=64, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64
    )
    BertModel(config, add_pooling_layer=False).save_pretrained(folder)
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *(f"w{number}" for number in range(500))]
    BertTokenizer(vocab={token: row for row, token in enumerate(tokens)}).save_pretrained(folder)


def encode_files(folder: Path, count: int) -> None:
    parameters = EncodeTextsParameters(
        settings=TextEncoderParameters(model=folder), max_tokens=64, batch_size=64, shard_size=1024
    )
    with tempfile.TemporaryDirectory() as work, write_matrix(folder / "kb.npy", count, 64) as matrix:
        encode = partial(
            encode_part,
            encoder="dpr_few_shot",
            model=folder / "bert",
            work=Path(work),
            parameters=parameters,
            source="",
        )
        for part in passage_parts(folder / str(count), parameters.shard_size):
            for shard, file in zip(part, encode(part), strict=True):
                matrix[shard.first : shard.first + len(shard.texts)] = read_matrix(file)


def run_races(path: Path) -> dict[str, object]:
    """Race on a file of vectors; returns figures, and how many of (queries, k) places differ."""
    mapped, vectors = read_matrix(path), queries()
    matrix, questions = mapped.astype(np.float32), vectors.astype(np.float32)
    tensors = torch.from_numpy(questions[:FEW]), torch.from_numpy(matrix)
    ours = exact_search(vectors, mapped, K)
    checked = slice(0, 50)
    scores = vectors[checked].astype(np.float64) @ mapped.astype(np.float64).T
    np.testing.assert_array_equal(ours[1][checked], np.argsort(-scores, axis=1, kind="stable")[:, :K])
    del scores
    figures: dict[str, object] = {
        "places_of_faiss_that_differ": check_same(ours, by_faiss(questions, matrix)),
        "places_of_sentence_transformers_that_differ": check_same(
            (ours[0][:FEW], ours[1][:FEW]), by_sentence_transformers(*tensors)
        ),
    }
    figures["races"] = {
        f"{len(vectors)} questions, {len(mapped)} vectors of {WIDTH}": harness.race(
            partial(exact_search, vectors, mapped, K),
            harness.Peer("sentence-transformers", partial(by_sentence_transformers, *tensors), FEW / len(vectors)),
            harness.Peer("faiss.knn", partial(by_faiss, questions, matrix)),
            gflop=2e-9 * len(vectors) * mapped.size,
            gigabytes=mapped.nbytes * 1e-9,
            why=WHY,
        )
    }
    return figures


def main() -> None:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for rows in (ROWS, RACED, 10 * ROWS):
            write_vectors(folder / f"{rows}.npy", rows)
        write_small_bert(folder / "bert" / "passage")
        for count in (1_000, 10_000):
            write_passages(folder, count)
        harness.write(
            "dense",
            run_races(folder / f"{RACED}.npy")
            | {
                "k": K,
                "search_mib": harness.peak_memory(search_file, folder / f"{ROWS}.npy"),
                "search_mib_ten_times_the_rows": harness.peak_memory(search_file, folder / f"{10 * ROWS}.npy"),
                "faiss_mib": harness.peak_memory(faiss_file, folder / f"{ROWS}.npy"),
                "encoding_mib": harness.peak_memory(encode_files, folder, 1_000),
                "encoding_mib_ten_times_the_passages": harness.peak_memory(encode_files, folder, 10_000),
                "versions": harness.versions("faiss-cpu", "numpy", "sentence-transformers", "torch"),
            },
        )


if __name__ == "__main__":
    main()
