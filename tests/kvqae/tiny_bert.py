"""A random BERT of a few kilobytes with a word-level vocabulary, in the format of the real one."""

from pathlib import Path

import torch
from transformers import BertConfig, BertModel, BertTokenizer

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
