"""The cross-encoder, which reads question and passage together (kvqae.md §4)."""

from functools import partial
from pathlib import Path

from trivium.formats.questions import read_questions
from trivium.formats.trec import read_run_over
from trivium.kvqae.rerankers.reranker import Inputs, Reranker, RerankerSettings
from trivium.measures.reorder import first, follow
from trivium.measures.runs import PADDING, Run


class Text(Reranker):
    """Reads a cross-encoder's folder: the best passages in a new order, then the others in theirs."""

    name, label, row, symbol, sees = "text", "text", "Text (cross-encoder)", "Text", "text"

    def __init__(self, settings: RerankerSettings, inputs: Inputs) -> None:
        self.settings, self.inputs = settings, inputs

    def rerank(self, split: str, file: Path) -> tuple[Run, dict[str, float]]:
        """A list that is shorter than `depth` is re-ranked as it is; one that is empty stays so."""
        from trivium.kvqae.reader.inputs import texts_of
        from trivium.kvqae.rerankers.cross_encoder import rerank_run, score_by_shards

        questions = read_questions(self.inputs.questions / f"{split}.jsonl")
        whole = read_run_over(file, [question.id for question in questions])
        initial = first(whole, self.settings.depth)
        score = partial(
            score_by_shards,
            self.settings.reads[0],
            texts=texts_of(self.inputs.passages, self.inputs.articles, initial.documents),
            max_tokens=self.inputs.max_tokens,
            batch=self.inputs.batch,
            engine=self.inputs.engine,
        )
        reranked = rerank_run(questions, initial, score)
        lengths = (initial.documents != PADDING).sum(axis=1)
        return follow(reranked, whole), {
            "questions": float(len(questions)),
            "pairs": float(lengths.sum()),
            "questions_without_passage": float((lengths == 0).sum()),
            "questions_with_few_passages": float(((lengths > 0) & (lengths < self.settings.depth)).sum()),
        }
