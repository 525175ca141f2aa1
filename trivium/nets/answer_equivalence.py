"""BEM, a BERT that tells whether two answers to a question are equivalent (Bulian et al., EMNLP 2022)."""

from collections.abc import Sequence
from itertools import chain
from pathlib import Path

import torch
from transformers import BertForSequenceClassification

from trivium.core.errors import BadInput
from trivium.nets.device import halving_batches
from trivium.nets.pretrained import load_pretrained

_CLASSES = 2  # not equivalent, equivalent
_TOKENS = 512


class AnswerEquivalence:
    """A BERT that reads `[CLS] candidate [SEP] reference [SEP] question [SEP]`.

    Args:
        folder: in Hugging Face's format; the second of its two classes means "equivalent".
        device: where it runs.

    Raises:
        BadInput: not such a folder.
    """

    def __init__(self, folder: Path, device: torch.device) -> None:
        model, self._tokenizer = load_pretrained(BertForSequenceClassification, folder, "an answer-equivalence model")
        if model.config.num_labels != _CLASSES:
            raise BadInput("another number of classes", file=folder, got=model.config.num_labels, expected="2")
        self._model, self._device = model.to(device), device

    def __call__(self, triples: Sequence[tuple[str, str, str]], batch_size: int = 32) -> list[float]:
        """Compute P(candidate and reference are equivalent) for each (question, reference, candidate)."""
        return list(chain.from_iterable(halving_batches(list(triples), batch_size, self._judge)))

    @torch.inference_mode()
    def _judge(self, triples: Sequence[tuple[str, str, str]]) -> list[float]:
        separator = self._tokenizer.sep_token
        batch = self._tokenizer(
            [candidate for _, _, candidate in triples],
            [f"{reference} {separator} {question}" for question, reference, _ in triples],
            truncation="longest_first",
            max_length=min(_TOKENS, self._model.config.max_position_embeddings),
            padding=True,
            return_tensors="pt",
        )
        logits = self._model(**{name: values.to(self._device) for name, values in batch.items()}).logits
        probabilities: list[float] = logits.float().softmax(dim=1)[:, 1].tolist()
        return probabilities
