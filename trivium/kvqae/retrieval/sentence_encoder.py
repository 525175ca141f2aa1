"""Frozen text encoders in sentence-transformers' format, which serve questions and passages alike (kvqae.md §3).

The folder's own configuration says how tokens become a vector (`1_Pooling`), whether it gets length 1 (`2_Normalize`),
what is read before a text (`prompts` of `config_sentence_transformers.json`) and how long it may be. Where the folder
states no prompt, the family's published prefix, which its class bears, stands before the text: many folders lack it.
A passage is read as `title text`, as retrieval benchmarks give it to such encoders.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from trivium.core.tables import write_json
from trivium.kvqae.retrieval.text_encoder_registry import Side, TextEncoder

if TYPE_CHECKING:
    import torch

    from trivium.nets.ragged import Ids

# Names under which sentence-transformers looks for a side's prompt, the first that is there.
PROMPTS: dict[Side, tuple[str, ...]] = {"question": ("query",), "passage": ("document", "passage", "corpus")}


class SentenceEncoder(TextEncoder):
    """One network for both sides; the attributes of `TextEncoder`, of which `prefixes` stand in for missing prompts."""

    folders: ClassVar[Mapping[Side, str]] = {"question": "", "passage": ""}

    def __init__(self, model: Path, side: Side, device: "torch.device") -> None:
        from trivium.nets.sentence_folder import load_sentence_folder

        self.side, self.folder = side, model
        self._loaded = load_sentence_folder(model, device)
        self.network, self.tokenizer = self._loaded.network, self._loaded.tokenizer
        stated = (self._loaded.prompts.get(name) for name in PROMPTS[side])
        self.prefix = next((prompt for prompt in stated if prompt), self.prefixes[side])

    def tokenize(self, texts: Sequence[str], max_tokens: int, titles: Sequence[str] | None = None) -> list[list[int]]:
        """Token ids of questions, or of passages after their titles, with the prefix; cut to what the folder allows."""
        from trivium.kvqae.retrieval.text_encoder import tokenize

        read = list(texts) if titles is None else [f"{each[0]} {each[1]}" for each in zip(titles, texts, strict=True)]
        read = [f"{self.prefix}{text}" for text in read]
        limit = min(max_tokens, self._loaded.longest)
        return tokenize(self.tokenizer, [text.lower() for text in read] if self._loaded.lower else read, limit)

    def encode(self, ids: Sequence["Ids"], batch_size: int) -> NDArray[np.float32]:
        """Vectors (texts, width) as the folder's modules make them; see `TextEncoder.encode`."""
        from trivium.kvqae.retrieval.text_encoder import encode

        return encode(self.network, self.tokenizer, ids, batch_size, self._loaded.vectors)

    @classmethod
    def write_tiny(cls, folder: Path) -> None:
        """A BERT of two layers with drawn weights, mean pooling and vectors of length 1: for tests."""
        import torch
        from transformers import BertConfig, BertModel, BertTokenizer

        torch.manual_seed(0)
        words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *(f"w{number}" for number in range(20))]
        config = BertConfig(
            vocab_size=len(words),
            hidden_size=32,
            num_hidden_layers=2,
            num_attention_heads=2,
            intermediate_size=64,
            max_position_embeddings=64,
        )
        BertModel(config).save_pretrained(folder)
        BertTokenizer(vocab={word: number for number, word in enumerate(words)}).save_pretrained(folder)
        modules = {"Transformer": "", "Pooling": "1_Pooling", "Normalize": "2_Normalize"}
        written = [
            {"idx": row, "name": str(row), "path": path, "type": f"sentence_transformers.models.{kind}"}
            for row, (kind, path) in enumerate(modules.items())
        ]
        write_json(folder / "modules.json", written)
        write_json(folder / "1_Pooling/config.json", {"word_embedding_dimension": 32, "pooling_mode_mean_tokens": True})
        write_json(folder / "sentence_bert_config.json", {"max_seq_length": 64, "do_lower_case": False})
