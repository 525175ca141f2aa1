"""A random BERT of a few kilobytes with a word-level vocabulary, in the format of the real one."""

from pathlib import Path

import torch
from transformers import BertConfig, BertModel, BertTokenizer

from trivium.core.tables import write_json

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = [f"w{number}" for number in range(60)] + ["who", "where", "is", "the", "?"]


def write_tiny_bert(folder: Path, *, seed: int = 0, width: int = 32) -> Path:
    """Two layers, whole words, no word pieces."""
    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=len(SPECIAL) + len(WORDS),
        hidden_size=width,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
    )
    BertModel(config, add_pooling_layer=False).save_pretrained(folder)
    vocabulary = {token: number for number, token in enumerate(SPECIAL + WORDS)}
    BertTokenizer(vocab=vocabulary).save_pretrained(folder)
    return folder


def write_tiny_sentence_encoder(folder: Path) -> None:
    """Such a BERT in sentence-transformers' format, with mean pooling and vectors of length 1."""
    write_tiny_bert(folder)
    modules = {"Transformer": "", "Pooling": "1_Pooling", "Normalize": "2_Normalize"}
    written = [
        {"idx": row, "name": str(row), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for row, (kind, path) in enumerate(modules.items())
    ]
    write_json(folder / "modules.json", written)
    write_json(folder / "1_Pooling/config.json", {"word_embedding_dimension": 32, "pooling_mode_mean_tokens": True})
    write_json(folder / "sentence_bert_config.json", {"max_seq_length": 64, "do_lower_case": False})
