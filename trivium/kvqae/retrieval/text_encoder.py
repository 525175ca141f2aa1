"""BERT encoders on disk, and the texts they read: questions, and passages as `title [SEP] text`."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from transformers import AutoModel, PreTrainedModel, PreTrainedTokenizerBase

from trivium.nets.bert import cls_vectors
from trivium.nets.feeding import Leaving, Pipeline
from trivium.nets.pretrained import load_pretrained
from trivium.nets.ragged import Ids, Ragged, padded, ragged


def load_text_encoder(folder: Path, device: torch.device) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """A BERT-like encoder without pooling head, in evaluation mode, and its tokenizer, from a Hugging Face folder.

    Raises:
        BadInput: not such a folder, or weights that are missing or do not fit its configuration (the layer is named).
    """
    model, tokenizer = load_pretrained(AutoModel, folder, "a text encoder", add_pooling_layer=False)
    return model.to(device), tokenizer


def save_text_encoder(folder: Path, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> None:
    """Write what `load_text_encoder` reads."""
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def tokenize(
    tokenizer: PreTrainedTokenizerBase, texts: Sequence[str], max_tokens: int, *, titles: Sequence[str] | None = None
) -> list[list[int]]:
    """Token ids `[CLS] text [SEP]`, or `[CLS] title [SEP] text [SEP]`, cut to `max_tokens` from the longer part."""
    first, second = (texts, None) if titles is None else (titles, texts)
    if not len(texts):
        return []
    return tokenizer(
        list(first),
        None if second is None else list(second),
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
    """Vectors of tokenised texts, (texts, width), in their order; batches hold texts of similar length.

    Args:
        encoder: in evaluation mode, on the device to compute on.
        tokenizer: its padding token is used.
        ids: what `tokenize` gives.
        batch_size: texts a batch at first; halved whenever GPU memory runs out.
        pooled: makes a batch's vectors of encoder, ids and mask.
    """
    device = next(encoder.parameters()).device
    longest_first = sorted(range(len(ids)), key=lambda row: -len(ids[row]))
    vectors = np.empty((len(ids), encoder.config.hidden_size), np.float32)

    def make(rows: Sequence[int]) -> tuple[Sequence[int], Ragged]:
        return rows, ragged([ids[row] for row in rows])

    def launch(made: tuple[Sequence[int], Ragged]) -> Leaving:
        return Leaving(pooled(encoder, *padded(made[1], tokenizer.pad_token_id, device)))

    def collect(made: tuple[Sequence[int], Ragged], leaving: Leaving) -> None:
        (batch,) = leaving.arrived()
        vectors[list(made[0])] = batch.numpy()

    for _ in Pipeline(longest_first, batch_size, make=make, launch=launch, collect=collect):
        pass
    return vectors
