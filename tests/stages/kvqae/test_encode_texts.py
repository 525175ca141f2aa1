from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import torch
import yaml

from stages.kvqae import encode_texts
from tests.kvqae.tiny_bert import write_tiny_bert
from trivium.core.stage import execute
from trivium.core.tables import read_table, write_json_lines, write_table
from trivium.kvqae.retrieval import text_encoding
from trivium.kvqae.retrieval.text_encoder import encode, load_text_encoder, tokenize

TEXTS = ["w1", "w2 w3 w4 w5 w6", "w7 w8", "", "w9 w10 w11", "w1 w1 w1 w1 w1 w1 w1 w1", "w2", "w3 w3"]
KB = 7  # the eighth passage is of an article without image


def question(identifier: str, text: str) -> dict:
    return {"id": identifier, "input": text, "output": {"original_answer": "x", "answer": ["x"]}}


def run(folder: Path, out: str = "out", **changed) -> dict[str, float]:
    section = {"max_tokens": 16, "batch_size": 3, "shard_size": 4} | changed
    entries = {"dpr_few_shot": {"model": str(folder / "dpr")}}
    tree = {"kvqae": {"encode_texts": section, "text_encoders": entries}}
    (folder / "params.yaml").write_text(yaml.safe_dump(tree))
    options = {"params": "params.yaml", "kb": "wiki", "questions": "asked"}
    argv = [part for name, value in options.items() for part in (f"--{name}", str(folder / value))]
    argv += ["--encoder", "dpr_few_shot", "--out", str(folder / out)]
    return execute(encode_texts.main, "kvqae.encode_texts", text_encoding.EncodeTextsParameters, argv)


def write_world(folder: Path) -> Path:
    """Eight passages, questions of two splits, both towers."""
    write_tiny_bert(folder / "dpr/question", seed=1)
    write_tiny_bert(folder / "dpr/passage", seed=2)
    write_table(folder / "wiki/articles.parquet", pa.table({"title": ["w20", "w21 w22"]}))
    table = pa.table({"passage": range(8), "article": [0, 0, 1, 1, 0, 0, 1, 1], "text": TEXTS})
    write_table(folder / "wiki/passages.parquet", table.replace_schema_metadata({"kb_passages": str(KB)}))
    for split, name, text in (
        ("train", "a", "who is w1 ?"),
        ("validation", "b", "where"),
        ("test", "a", "is w9 the w8 ?"),
    ):
        write_json_lines(folder / f"asked/{split}.jsonl", [question(name, text)])
    return folder


@pytest.fixture
def world(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return write_world(tmp_path)


def test_rows_are_the_passages_in_order_by_the_right_tower(world):
    assert run(world) == {"passages": KB, "questions": 3, "width": 32}
    matrix, queries = np.load(world / "out/kb.npy"), np.load(world / "out/queries.npy")
    assert matrix.dtype == queries.dtype == np.float16
    np.testing.assert_array_equal(np.load(world / "out/kb_ids.npy"), np.arange(KB))
    encoder, tokenizer = load_text_encoder(world / "dpr/passage", torch.device("cpu"))
    titles = ["w20", "w20", "w21 w22", "w21 w22", "w20", "w20", "w21 w22"]
    strings = [f"{title} [SEP] {text}" for title, text in zip(titles, TEXTS, strict=False)]
    expected = encode(encoder, tokenizer, tokenize(tokenizer, strings, 16), 1)
    np.testing.assert_allclose(matrix, expected, atol=2e-3)  # float16: 2⁻¹¹ of values up to 4
    encoder, tokenizer = load_text_encoder(world / "dpr/question", torch.device("cpu"))
    expected = encode(encoder, tokenizer, tokenize(tokenizer, ["who is w1 ?", "where", "is w9 the w8 ?"], 16), 1)
    np.testing.assert_allclose(queries, expected, atol=2e-3)
    table = read_table(world / "out/queries.parquet").to_pydict()
    assert table == {"split": ["train", "validation", "test"], "id": ["a", "b", "a"]}


@pytest.mark.parametrize(("batch_size", "shard_size"), [(2, 1), (5, 7)])
def test_batches_and_shards_change_nothing(world, batch_size, shard_size):
    run(world, "one")
    run(world, "two", batch_size=batch_size, shard_size=shard_size)
    for name in ("kb.npy", "queries.npy"):
        np.testing.assert_allclose(np.load(world / "one" / name), np.load(world / "two" / name), atol=2e-3)
