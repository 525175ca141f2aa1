"""Re-rank by the cross-encoder, which reads question and passage together (kvqae.md §4)."""

from collections.abc import Sequence
from functools import partial

from trivium.formats.questions import Question
from trivium.kvqae.rerankers.reranker import Inputs, Reranker, RerankerSettings
from trivium.measures.reorder import follow
from trivium.measures.runs import PADDING, Run


class Text(Reranker):
    """Re-ranker that reads a cross-encoder's folder; the best passages are reordered, others follow unchanged."""

    name, label, row, symbol, sees = "text", "text", "Text (cross-encoder)", "Text", "text"

    def __init__(self, settings: RerankerSettings, inputs: Inputs) -> None:
        self.settings, self.inputs = settings, inputs

    def rerank(self, split: str, questions: Sequence[Question], initial: Run) -> tuple[Run, dict[str, float]]:
        """Re-rank the best `depth` passages; shorter lists are re-ranked whole, empty ones stay empty."""
        from trivium.kvqae.knowledge_base.passage_texts import read_passage_texts
        from trivium.kvqae.reader.reading import map_pairs
        from trivium.kvqae.rerankers.cross_encoder import rerank_run, score_shard

        best, inputs = initial.first(self.settings.depth), self.inputs
        texts = read_passage_texts(inputs.kb, best.documents)
        shard = partial(score_shard, folder=self.settings.reads[0], max_tokens=inputs.max_tokens, batch=inputs.batch)
        score = partial(map_pairs, shard, texts=texts, batch=inputs.batch, engine=inputs.engine, description="scoring")
        reranked = rerank_run(questions, best, score)
        lengths = (best.documents != PADDING).sum(axis=1)
        return follow(reranked, initial), {
            "questions": float(len(questions)),
            "pairs": float(lengths.sum()),
            "questions_without_passage": float((lengths == 0).sum()),
            "questions_with_few_passages": float(((lengths > 0) & (lengths < self.settings.depth)).sum()),
        }
