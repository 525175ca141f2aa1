"""Token ids of the dual encoder's training pairs, each text tokenised once for all epochs (kvqae.md §3)."""

from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from transformers import PreTrainedTokenizerBase

from trivium.kvqae.knowledge_base.passage_texts import PassageTexts
from trivium.kvqae.retrieval.pairs import Pairs
from trivium.kvqae.retrieval.text_encoder import tokenize
from trivium.nets.kept_tokens import keep_tokens


class PairTokens:
    """What `tokenize` gives of questions and passages, memory-mapped.

    Args:
        folder: of the training's own.
        tokenizer: of both encoders.
        pairs: their questions, and every passage that they name.
        texts: of these passages.
        max_tokens: a text is cut to these.
    """

    def __init__(
        self, folder: Path, tokenizer: PreTrainedTokenizerBase, pairs: Pairs, texts: PassageTexts, max_tokens: int
    ) -> None:
        def passage_ids(numbers: Sequence[int]) -> list[list[int]]:
            titles, passages = zip(*map(texts.__getitem__, numbers), strict=True)
            return tokenize(tokenizer, passages, max_tokens, titles=titles)

        numbers = pairs.passages().tolist()
        self._rows = {number: row for row, number in enumerate(numbers)}
        self._questions = keep_tokens(
            folder / "questions", pairs.questions, partial(tokenize, tokenizer, max_tokens=max_tokens)
        )
        self._passages = keep_tokens(folder / "passages", numbers, passage_ids)

    def questions(self, rows: Iterable[int]) -> list[NDArray[np.int32]]:
        """Of questions, by their rows in `pairs`."""
        return [self._questions[row] for row in rows]

    def passages(self, numbers: Iterable[int]) -> list[NDArray[np.int32]]:
        """Of passages, by their numbers."""
        return [self._passages[self._rows[number]] for number in numbers]
