"""Load, save and run text encoders (kvqae.md §3).

DPR reads a passage as `title [SEP] text`. A folder in sentence-transformers' format configures pooling (`1_Pooling`),
normalisation (`2_Normalize`), prompts before texts (`prompts` of `config_sentence_transformers.json`) and the length of
texts; such encoders read a passage as `title text`, as in retrieval benchmarks.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from transformers import AutoModel, PreTrainedModel, PreTrainedTokenizerBase

from trivium.kvqae.retrieval.text_encoders import Side, family_of
from trivium.nets.bert import cls_vectors
from trivium.nets.device import pick_device
from trivium.nets.feeding import Pipeline, Transfer
from trivium.nets.pretrained import load_pretrained, load_sentence_folder
from trivium.nets.tokens import Ids, Ragged, padded, ragged

# Names of a side's prompt in sentence-transformers; the first one that exists is used.
PROMPTS: dict[Side, tuple[str, ...]] = {"question": ("query",), "passage": ("document", "passage", "corpus")}


def load_text_encoder(folder: Path, device: torch.device) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """Load a BERT-like encoder without pooling head, in evaluation mode, and its tokenizer (see `load_pretrained`)."""
    model, tokenizer = load_pretrained(AutoModel, folder, "a text encoder", add_pooling_layer=False)
    return model.to(device), tokenizer


def save_text_encoder(folder: Path, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> None:
    """Write what `load_text_encoder` reads."""
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def tokenize(
    tokenizer: PreTrainedTokenizerBase, texts: Sequence[str], max_tokens: int, *, titles: Sequence[str] | None = None
) -> list[list[int]]:
    """Tokenise as `[CLS] text [SEP]` or `[CLS] title [SEP] text [SEP]`; the longer part is cut to fit `max_tokens`."""
    if not len(texts):
        return []
    parts = (texts,) if titles is None else (titles, texts)
    return tokenizer(
        *map(list, parts),
        truncation="longest_first",
        max_length=max_tokens,
        return_token_type_ids=False,
        return_attention_mask=False,
    )["input_ids"]


@torch.inference_mode()
def encode(
    encoder: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    ids: Sequence[Ids],
    batch_size: int,
    pooled: Callable[..., Tensor] = cls_vectors,
) -> NDArray[np.float32]:
    """Encode tokenised texts, (texts, width), in their order; batches hold texts of similar length.

    `pooled` computes a batch's vectors from encoder, ids and mask. The batch size is halved when GPU memory runs out.
    """
    device = next(encoder.parameters()).device
    longest_first = sorted(range(len(ids)), key=lambda row: -len(ids[row]))
    vectors = np.empty((len(ids), encoder.config.hidden_size), np.float32)

    def make(rows: Sequence[int]) -> Ragged:
        return ragged([ids[row] for row in rows])

    def launch(tokens: Ragged) -> Transfer:
        return Transfer(pooled(encoder, *padded(tokens, tokenizer.pad_token_id, device)))

    def collect(_: Ragged, transfer: Transfer) -> NDArray[np.float32]:
        return transfer.wait()[0].numpy()

    batches = Pipeline(longest_first, batch_size, make=make, launch=launch, collect=collect)
    vectors[longest_first] = np.concatenate([vectors[:0], *batches])
    return vectors


class TextEncoder:
    """One side of a frozen encoder: DPR's tower, or a network in sentence-transformers' format, used for both sides.

    `name` is its entry in `kvqae.text_encoders`. The network is on the GPU if there is one.
    """

    def __init__(self, name: str, model: Path, side: Side) -> None:
        family, device = family_of(name), pick_device()
        self._sentences = None if family.towers else load_sentence_folder(model, device)
        if self._sentences is None:
            self.network, self.tokenizer = load_text_encoder(model / side, device)
            self.prefix = ""
        else:
            self.network, self.tokenizer = self._sentences.network, self._sentences.tokenizer
            stated = (self._sentences.prompts.get(prompt) for prompt in PROMPTS[side])
            self.prefix = next((prompt for prompt in stated if prompt), family.prefixes[side])

    @property
    def width(self) -> int:
        """Size of a vector."""
        return int(self.network.config.hidden_size)

    def tokenize(self, texts: Sequence[str], max_tokens: int, titles: Sequence[str] | None = None) -> list[list[int]]:
        """Tokenise questions, or passages with titles, cut to `max_tokens` and to what the folder allows."""
        if self._sentences is None:
            return tokenize(self.tokenizer, texts, max_tokens, titles=titles)
        if titles is not None:
            texts = [f"{title} {text}" for title, text in zip(titles, texts, strict=True)]
        texts = [f"{self.prefix}{text}" for text in texts]
        if self._sentences.lower:
            texts = [text.lower() for text in texts]
        return tokenize(self.tokenizer, texts, min(max_tokens, self._sentences.longest))

    def encode(self, ids: Sequence[Ids], batch_size: int) -> NDArray[np.float32]:
        """Encode the output of `tokenize`, (texts, width); the batch size is halved when GPU memory runs out."""
        pooled = cls_vectors if self._sentences is None else self._sentences.vectors
        return encode(self.network, self.tokenizer, ids, batch_size, pooled)
