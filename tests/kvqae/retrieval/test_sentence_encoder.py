"""Sentence encoders against sentence-transformers itself, and what a folder may say of prompts, length and pooling."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer

from trivium.core.errors import BadInput
from trivium.kvqae.retrieval.sentence_encoder import SentenceEncoder
from trivium.kvqae.retrieval.text_encoders.bge import Bge
from trivium.kvqae.retrieval.text_encoders.e5 import E5
from trivium.kvqae.retrieval.text_encoders.gte import Gte

CPU = torch.device("cpu")
TEXTS, TITLES = ["w1 w2 w3", "w4", "w5 w6 w7 w8 w9"], ["w10", "w11 w12", "w13"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    E5.write_tiny(tmp_path / "model")
    return tmp_path / "model"


def change(path: Path, **values: object) -> None:
    path.write_text(json.dumps({**(json.loads(path.read_text()) if path.exists() else {}), **values}))


def encoded(encoder: SentenceEncoder, texts: list[str], titles: list[str] | None = None) -> np.ndarray:
    return encoder.encode(encoder.tokenize(texts, 64, titles), 2)


@pytest.mark.parametrize("mode", ["mean", "cls", "lasttoken"])
def test_vectors_are_those_of_the_library(folder: Path, mode: str) -> None:
    (folder / "1_Pooling/config.json").write_text(json.dumps({"embedding_dimension": 32, "pooling_mode": mode}))
    library = SentenceTransformer(str(folder), device="cpu")
    asked = encoded(E5(folder, "question", CPU), TEXTS)
    np.testing.assert_allclose(asked, library.encode([f"query: {text}" for text in TEXTS]), atol=1e-6)
    read = [f"passage: {title} {text}" for title, text in zip(TITLES, TEXTS, strict=True)]
    np.testing.assert_allclose(encoded(E5(folder, "passage", CPU), TEXTS, TITLES), library.encode(read), atol=1e-6)


def test_older_names_of_the_pooling_are_understood(folder: Path) -> None:
    expected = encoded(Gte(folder, "question", CPU), TEXTS)
    old = {"word_embedding_dimension": 32, "pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True}
    (folder / "1_Pooling/config.json").write_text(json.dumps(old))
    np.testing.assert_array_equal(encoded(Gte(folder, "question", CPU), TEXTS), expected)
    (folder / "1_Pooling/config.json").write_text(
        json.dumps(old | {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False})
    )
    assert np.abs(encoded(Gte(folder, "question", CPU), TEXTS) - expected).max() > 1e-3


def test_without_a_normalisation_vectors_keep_their_length(folder: Path) -> None:
    modules = json.loads((folder / "modules.json").read_text())
    (folder / "modules.json").write_text(json.dumps(modules[:2]))
    lengths = np.linalg.norm(encoded(Gte(folder, "question", CPU), TEXTS), axis=1)
    assert np.abs(lengths - 1).min() > 0.1


def test_prompts_of_the_folder_stand_before_the_familys(folder: Path) -> None:
    assert [Bge(folder, side, CPU).prefix for side in ("question", "passage")] == [Bge.prefixes["question"], ""]
    change(folder / "config_sentence_transformers.json", prompts={"query": "w1 ", "passage": "w2 ", "corpus": "w3 "})
    assert [E5(folder, side, CPU).prefix for side in ("question", "passage")] == ["w1 ", "w2 "]
    library = SentenceTransformer(str(folder), device="cpu")
    np.testing.assert_allclose(encoded(E5(folder, "question", CPU), TEXTS), library.encode_query(TEXTS), atol=1e-6)
    # A prompt that is empty says nothing: newer versions of the library write it for every model.
    change(folder / "config_sentence_transformers.json", prompts={"query": "", "document": ""})
    assert E5(folder, "question", CPU).prefix == "query: "


def test_texts_are_cut_to_what_the_folder_allows(folder: Path) -> None:
    long = [" ".join(["w1"] * 100)]
    assert len(Gte(folder, "question", CPU).tokenize(long, 512)[0]) == 64
    (folder / "sentence_bert_config.json").unlink()
    change(folder / "tokenizer_config.json", model_max_length=32)
    assert len(Gte(folder, "question", CPU).tokenize(long, 512)[0]) == 32
    change(folder / "sentence_bert_config.json", max_seq_length=16)
    assert len(Gte(folder, "question", CPU).tokenize(long, 512)[0]) == 16
    assert len(Gte(folder, "question", CPU).tokenize(long, 8)[0]) == 8


def test_small_letters_where_the_folder_asks_for_them(folder: Path) -> None:
    change(folder / "tokenizer_config.json", do_lower_case=False)
    tree = json.loads((folder / "tokenizer.json").read_text())
    (folder / "tokenizer.json").write_text(json.dumps(tree | {"normalizer": None}))
    encoder = Gte(folder, "question", CPU)
    assert encoder.tokenize(["W1"], 8) != encoder.tokenize(["w1"], 8)
    change(folder / "sentence_bert_config.json", do_lower_case=True)
    encoder = Gte(folder, "question", CPU)
    assert encoder.tokenize(["W1"], 8) == encoder.tokenize(["w1"], 8)


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("modules.json", {"a": 1}, "not a list of modules"),
        ("modules.json", [{"type": "x.Transformer", "path": ""}], "expected a Transformer, then a Pooling"),
        ("modules.json", [{"type": "x.Transformer", "path": ""}, {"type": "custom.Whatever", "path": "1"}],
         r"modules.json:2: field .type.: a module that is not known; got 'custom.Whatever'"),
        ("1_Pooling/config.json", {"embedding_dimension": 16, "pooling_mode": "mean"}, "another width; got 16"),
        ("1_Pooling/config.json", {"embedding_dimension": 32, "pooling_mode": "most"}, "not a pooling: Invalid"),
        ("1_Pooling/config.json", {"embedding_dimension": 32, "include_prompt": False}, "field 'include_prompt'"),
        ("config_sentence_transformers.json", {"prompts": ["x"]}, "field 'prompts': not prompts"),
        ("sentence_bert_config.json", {"max_seq_length": "long"}, "field 'max_seq_length': bad length"),
        ("sentence_bert_config.json", [], "sentence_bert_config.json: not an object"),
    ],
)  # fmt: skip
def test_what_a_folder_may_not_say(folder: Path, file: str, content: object, message: str) -> None:
    (folder / file).write_text(json.dumps(content))
    with pytest.raises(BadInput, match=message):
        Gte(folder, "question", CPU)


def test_a_folder_without_modules_is_refused(folder: Path) -> None:
    (folder / "modules.json").unlink()
    with pytest.raises(BadInput, match=r"modules.json: no such file"):
        Gte(folder, "question", CPU)
