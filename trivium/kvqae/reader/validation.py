"""Exact match of a reader on validation questions while it trains (kvqae.md §5)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from transformers import BertForQuestionAnswering, BertTokenizer

from trivium.formats.questions import Question
from trivium.kvqae.knowledge_base.passage_texts import PassageTexts
from trivium.kvqae.reader.reading import answer, read_pairs
from trivium.measures.answers import exact_match
from trivium.measures.runs import PADDING, Run


@dataclass(frozen=True)
class Validation:
    """Questions, the passages to read for each (the first rows of `run`), and their texts."""

    questions: Sequence[Question]
    run: Run
    texts: PassageTexts

    def exact_match(
        self,
        model: BertForQuestionAnswering,
        tokenizer: BertTokenizer,
        *,
        max_tokens: int,
        answer_tokens: int,
        batch: int,
    ) -> float:
        """Share of the questions whose answer, of `answer_tokens` at most, is right; `batch` pairs read together."""
        passages = [row[row != PADDING].tolist() for row in self.run.documents[: len(self.questions)]]
        readings = read_pairs(
            model,
            tokenizer,
            [(question.text, each) for question, row in zip(self.questions, passages, strict=True) for each in row],
            self.texts,
            max_tokens=max_tokens,
            longest=answer_tokens,
            batch=batch,
        )
        right = [
            exact_match(answer(question.text, row, readings).prediction, question.answers)
            for question, row in zip(self.questions, passages, strict=True)
        ]
        return float(np.mean(right))
