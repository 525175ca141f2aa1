"""Training pairs of the dual encoder: relevant passages, and BM25's best irrelevant ones (kvqae.md §3)."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from trivium.formats.questions import Question
from trivium.kvqae.knowledge_base.article_passages import Ids, passages_of_articles
from trivium.kvqae.retrieval.relevance import judge_passages, pool_runs
from trivium.measures.runs import PADDING, Run

SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("question", pa.string()),
        ("positives", pa.list_(pa.int64())),
        ("negatives", pa.list_(pa.int64())),
    ]
)


def make_pairs(
    questions: Sequence[Question], run: Run, own: Sequence[Ids], passages: Path, articles: Path
) -> tuple[pa.Table, dict[str, float]]:
    """Positives and hard negatives of each question.

    Two departures from the authors' code, which takes the original answer for relevance and turns to the own article
    only where BM25 finds nothing relevant: here every alias counts, and positives come from both.

    Args:
        questions: to learn from.
        run: BM25's, over these questions.
        own: passages of the subject entity's own article, for each question; none for TriviaQA.
        passages, articles: Parquet files of the knowledge base.

    Returns:
        A row a question that has both: positives are the relevant passages in BM25's order, then those of the entity's
        article; negatives are BM25's irrelevant passages in its order. And counts: kept, dropped without a positive,
        dropped without a negative.
    """
    retrieved = pool_runs(questions, [run], run.documents.shape[1])
    pool = [np.union1d(found, mine) for found, mine in zip(retrieved, own, strict=True)]
    judged = judge_passages(questions, pool, passages, articles)
    rows = []
    counts = {"questions": 0.0, "dropped_without_positive": 0.0, "dropped_without_negative": 0.0}
    for question, ranked, mine, relevant in zip(questions, run.documents, own, judged.relevant, strict=True):
        ranked = ranked[ranked != PADDING]
        candidates = np.array(list(dict.fromkeys([*ranked.tolist(), *mine.tolist()])), dtype=np.int64)
        positives, negatives = candidates[np.isin(candidates, relevant)], ranked[~np.isin(ranked, relevant)]
        if not len(positives):
            counts["dropped_without_positive"] += 1
        elif not len(negatives):
            counts["dropped_without_negative"] += 1
        else:
            counts["questions"] += 1
            rows.append({"id": question.id, "question": question.text, "positives": positives, "negatives": negatives})
    return pa.Table.from_pylist(rows, schema=SCHEMA), counts


def own_passages(questions: Sequence[Question], passages: Path, articles: Path) -> list[Ids]:
    """Passages of each question's own article; none where there is no such article."""
    subjects = {question.wikipedia_id for question in questions if question.wikipedia_id is not None}
    known = passages_of_articles(passages, articles, subjects)
    return [known.get(question.wikipedia_id or "", np.empty(0, np.int64)) for question in questions]
