"""Text encoders: sentence encoders against sentence-transformers itself, what a folder may say of prompts and length."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer

from tests.kvqae.tiny_bert import write_tiny_sentence_encoder
from trivium.kvqae.retrieval.text_encoder import TextEncoder
from trivium.kvqae.retrieval.text_encoders import TEXT_ENCODERS

TEXTS, TITLES = ["w1 w2 w3", "w4", "w5 w6 w7 w8 w9"], ["w10", "w11 w12", "w13"]


@pytest.fixture(autouse=True)
def on_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the library, which computes in full precision there."""
    monkeypatch.setattr("trivium.kvqae.retrieval.text_encoder.pick_device", lambda: torch.device("cpu"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_tiny_sentence_encoder(tmp_path / "model")
    return tmp_path / "model"


def change(path: Path, **values: object) -> None:
    path.write_text(json.dumps({**(json.loads(path.read_text()) if path.exists() else {}), **values}))


def encoded(encoder: TextEncoder, texts: list[str], titles: list[str] | None = None) -> np.ndarray:
    return encoder.encode(encoder.tokenize(texts, 64, titles), 2)


@pytest.mark.parametrize("mode", ["mean", "cls", "lasttoken"])
def test_vectors_are_those_of_the_library(folder: Path, mode: str) -> None:
    (folder / "1_Pooling/config.json").write_text(json.dumps({"embedding_dimension": 32, "pooling_mode": mode}))
    library = SentenceTransformer(str(folder), device="cpu")
    asked = encoded(TextEncoder("e5", folder, "question"), TEXTS)
    np.testing.assert_allclose(asked, library.encode([f"query: {text}" for text in TEXTS]), atol=1e-6)
    read = [f"passage: {title} {text}" for title, text in zip(TITLES, TEXTS, strict=True)]
    np.testing.assert_allclose(
        encoded(TextEncoder("e5", folder, "passage"), TEXTS, TITLES), library.encode(read), atol=1e-6
    )


def test_older_names_of_the_pooling_are_understood(folder: Path) -> None:
    expected = encoded(TextEncoder("gte", folder, "question"), TEXTS)
    old = {"word_embedding_dimension": 32, "pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True}
    (folder / "1_Pooling/config.json").write_text(json.dumps(old))
    np.testing.assert_array_equal(encoded(TextEncoder("gte", folder, "question"), TEXTS), expected)
    (folder / "1_Pooling/config.json").write_text(
        json.dumps(old | {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False})
    )
    assert np.abs(encoded(TextEncoder("gte", folder, "question"), TEXTS) - expected).max() > 1e-3


def test_prompts_of_the_folder_stand_before_the_familys(folder: Path) -> None:
    assert [TextEncoder("bge", folder, side).prefix for side in ("question", "passage")] == [
        TEXT_ENCODERS["bge"].prefixes["question"],
        "",
    ]
    change(folder / "config_sentence_transformers.json", prompts={"query": "w1 ", "passage": "w2 ", "corpus": "w3 "})
    assert [TextEncoder("e5", folder, side).prefix for side in ("question", "passage")] == ["w1 ", "w2 "]
    library = SentenceTransformer(str(folder), device="cpu")
    np.testing.assert_allclose(
        encoded(TextEncoder("e5", folder, "question"), TEXTS), library.encode_query(TEXTS), atol=1e-6
    )
    # A prompt that is empty says nothing: newer versions of the library write it for every model.
    change(folder / "config_sentence_transformers.json", prompts={"query": "", "document": ""})
    assert TextEncoder("e5", folder, "question").prefix == "query: "


def test_texts_are_cut_to_what_the_folder_allows(folder: Path) -> None:
    long = [" ".join(["w1"] * 100)]
    assert len(TextEncoder("gte", folder, "question").tokenize(long, 512)[0]) == 64
    (folder / "sentence_bert_config.json").unlink()
    change(folder / "tokenizer_config.json", model_max_length=32)
    assert len(TextEncoder("gte", folder, "question").tokenize(long, 512)[0]) == 32
    change(folder / "sentence_bert_config.json", max_seq_length=16)
    assert len(TextEncoder("gte", folder, "question").tokenize(long, 512)[0]) == 16
    assert len(TextEncoder("gte", folder, "question").tokenize(long, 8)[0]) == 8


def test_small_letters_where_the_folder_asks_for_them(folder: Path) -> None:
    change(folder / "tokenizer_config.json", do_lower_case=False)
    tree = json.loads((folder / "tokenizer.json").read_text())
    (folder / "tokenizer.json").write_text(json.dumps(tree | {"normalizer": None}))
    encoder = TextEncoder("gte", folder, "question")
    assert encoder.tokenize(["W1"], 8) != encoder.tokenize(["w1"], 8)
    change(folder / "sentence_bert_config.json", do_lower_case=True)
    encoder = TextEncoder("gte", folder, "question")
    assert encoder.tokenize(["W1"], 8) == encoder.tokenize(["w1"], 8)


def test_the_table_in_the_docs_says_what_is_known() -> None:
    text = (Path(__file__).parents[3] / "docs" / "kvqae.md").read_text(encoding="utf-8")
    told = re.findall(r"^\| `(\w+)` \| ([^|]*), ([^|,]*) \|$", text, re.MULTILINE)
    assert sorted(told) == sorted((name, known.label, known.symbol) for name, known in TEXT_ENCODERS.items())
    symbols = [known.symbol for known in TEXT_ENCODERS.values()]
    assert len({*symbols, "B"}) == len(symbols) + 1  # B is BM25's
