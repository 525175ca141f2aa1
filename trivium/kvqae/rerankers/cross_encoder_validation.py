"""Validation of the cross-encoder while it is trained: the mean reciprocal rank of lists that it re-ranks."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from transformers import BertForSequenceClassification, BertTokenizer

from trivium.formats.questions import Question
from trivium.kvqae.knowledge_base.passage_texts import PassageTexts
from trivium.kvqae.reader.inputs import split_by_relevance
from trivium.kvqae.rerankers.cross_encoder import rerank_run
from trivium.measures.ranking import reciprocal_rank
from trivium.measures.runs import Qrels, Run, relevance_matrix


@dataclass(frozen=True)
class Validation:
    """Questions to re-rank passages for.

    Attributes:
        questions: in the order of the run's rows.
        run: their lists.
        texts: of the passages.
        qrels: which of the passages are relevant.
    """

    questions: Sequence[Question]
    run: Run
    texts: PassageTexts
    qrels: Qrels

    @classmethod
    def judge(cls, questions: Sequence[Question], run: Run, texts: PassageTexts) -> "Validation":
        """With these questions' lists of the run, which may hold others', judged."""
        run = run.select(question.id for question in questions)
        examples, _ = split_by_relevance(questions, run, texts)
        relevant = {example.question.id: example.relevant for example in examples}
        none = np.empty(0, dtype=np.int64)
        return cls(questions, run, texts, Qrels(run.queries, tuple(relevant.get(each, none) for each in run.queries)))

    def mrr(
        self, model: BertForSequenceClassification, tokenizer: BertTokenizer, *, max_tokens: int, batch: int
    ) -> float:
        """Mean reciprocal rank in the re-ranked lists; 0 for a question without relevant passage."""
        return self._mrr_of(
            rerank_run(model, tokenizer, self.questions, self.run, self.texts, max_tokens=max_tokens, batch=batch)
        )

    def initial_mrr(self) -> float:
        """The same of the lists as they were retrieved."""
        return self._mrr_of(self.run)

    def _mrr_of(self, run: Run) -> float:
        hits = relevance_matrix(run, self.qrels)
        return float(reciprocal_rank(hits, hits.sum(axis=1), hits.shape[1]).mean())
