"""Who reads the answer in the passages that were found: a BERT reader from a folder, or whatever a caller brings."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from trivium.kvqae.knowledge_base.passage_texts import SEPARATOR, PassageTexts

Span = tuple[int, int]


@dataclass(frozen=True)
class Read:
    """An answer.

    Attributes:
        text: its words; empty where there is none.
        score: the reader's probability; None where it has none.
        passage: its number, -1 where it stands in none.
        span: (start, end) characters in the passage's text; None where it stands elsewhere.
    """

    text: str = ""
    score: float | None = None
    passage: int = -1
    span: Span | None = None


class Reader(Protocol):
    """Reads."""

    def read(
        self,
        question: str,
        passages: Sequence[int],
        scores: NDArray[np.float64],
        texts: PassageTexts,
        entry: str | None,
    ) -> Read:
        """The answer.

        Args:
            question: its text.
            passages: numbers, best first.
            scores: of the passages.
            texts: of the passages.
            entry: the title of what the picture shows, where that is sure.
        """
        ...


class FolderReader:
    """A multi-passage BERT reader, such as the graph's few-shot one.

    Args:
        folder: Hugging Face folder.
        tokens: of question and passage together.
        answer_tokens: of the longest answer.
        batch: passages read together.
        weighted: whether a passage's score weighs its answers.

    Attributes:
        tokenizer: of the folder.

    Raises:
        BadInput: not such a folder.
    """

    def __init__(
        self, folder: Path, tokens: int, answer_tokens: int, *, batch: int = 16, weighted: bool = False
    ) -> None:
        from trivium.kvqae.reader.reading import load_reader
        from trivium.nets.device import pick_device

        self._model, self.tokenizer = load_reader(folder, tokens)
        self._model.to(pick_device())  # type: ignore[arg-type]
        self._limits = {"max_tokens": tokens, "longest": answer_tokens, "batch": batch}
        self._weighted = weighted

    def read(
        self,
        question: str,
        passages: Sequence[int],
        scores: NDArray[np.float64],
        texts: PassageTexts,
        entry: str | None,
    ) -> Read:
        """The span of the largest probability over all passages; `entry` plays no role, as in the graph."""
        from trivium.kvqae.reader.reading import answer, passage_weights, read_pairs

        pairs = [(question, passage) for passage in passages]
        readings = read_pairs(self._model, self.tokenizer, pairs, texts, **self._limits)
        weights = passage_weights(scores) if self._weighted and len(passages) else None
        found = answer(question, passages, readings, weights)
        if found.passage < 0:
            return Read()
        before = len(texts[found.passage][0]) + len(SEPARATOR)
        span = (found.start - before, found.end - before) if found.start >= before else None
        return Read(found.prediction, found.score, found.passage, span)
