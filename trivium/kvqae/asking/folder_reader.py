"""A multi-passage BERT reader from a folder, such as the graph's few-shot one."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from trivium.kvqae.asking.answer import Read
from trivium.kvqae.knowledge_base.passage_texts import SEPARATOR, PassageTexts
from trivium.kvqae.reader.reading import answer, load_reader, passage_weights, read_pairs
from trivium.nets.device import pick_device


class FolderReader:
    """Reads with the network of a Hugging Face folder.

    Args:
        folder: where it lies.
        tokens: of question and passage together.
        answer_tokens: of the longest answer.
        batch: passages read together.
        weighted: whether a passage's score weighs its answers.

    Raises:
        BadInput: not such a folder.
    """

    def __init__(
        self, folder: Path, tokens: int, answer_tokens: int, *, batch: int = 16, weighted: bool = False
    ) -> None:
        self._model, self.tokenizer = load_reader(folder, tokens)
        self._model.to(pick_device())  # type: ignore[arg-type]
        self._limits = {"max_tokens": tokens, "longest": answer_tokens, "batch": batch}
        self._weighted = weighted

    def read(self, question: str, ranked: Mapping[int, float], texts: PassageTexts, entry: str | None) -> Read:
        """The span of the largest probability over all passages; `entry` plays no role, as in the graph."""
        passages = list(ranked)
        pairs = [(question, passage) for passage in passages]
        readings = read_pairs(self._model, self.tokenizer, pairs, texts, **self._limits)
        weights = passage_weights(np.array(list(ranked.values()))) if self._weighted and ranked else None
        best = answer(question, passages, readings, weights)
        if best.passage < 0:
            return Read()
        before = len(texts[best.passage][0]) + len(SEPARATOR)
        span = (best.start - before, best.end - before) if best.start >= before else None
        return Read(best.prediction, best.score, best.passage, span)
