"""Training pairs of the dual encoder: relevant passages, and BM25's best irrelevant ones (kvqae.md §3)."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
from pydantic import Field

from stages.atomic import write_atomically
from stages.kvqae.article_passages import Ids, passages_of_articles
from stages.kvqae.questions import Question, read_questions
from stages.kvqae.relevance import judge_passages, pool_runs
from stages.measures.runs import PADDING, Run
from stages.stage import BadInput, Context, Parameters, run_stage
from stages.tables import write_table
from stages.trec import read_run_over

SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("question", pa.string()),
        ("positives", pa.list_(pa.int64())),
        ("negatives", pa.list_(pa.int64())),
    ]
)


class TrainingPairsParameters(Parameters):
    """Section `kvqae.training_pairs`."""

    depth: int = Field(ge=1, description="BM25's best passages that positives and negatives come from")


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


def main(
    parameters: TrainingPairsParameters,
    context: Context,
    *,
    viquae: Path,
    triviaqa: Path,
    runs_viquae: Path,
    runs_triviaqa: Path,
    passages: Path,
    articles: Path,
    out: Path,
) -> dict[str, float]:
    """Make the pairs of both data sets, training and validation."""
    metrics: dict[str, float] = {}
    with write_atomically(out) as beside:
        beside.mkdir()
        for name, folder, runs in (("triviaqa", triviaqa, runs_triviaqa), ("viquae", viquae, runs_viquae)):
            for split in ("train", "validation"):
                questions = read_questions(folder / f"{split}.jsonl")
                run = read_run_over(runs / f"{split}.trec", [question.id for question in questions])
                run = Run(run.queries, run.documents[:, : parameters.depth], run.scores[:, : parameters.depth])
                own = own_passages(questions, passages, articles)
                table, counts = make_pairs(questions, run, own, passages, articles)
                if not len(table):
                    raise BadInput("no question has both a positive and a negative", file=runs / f"{split}.trec")
                write_table(beside / f"{name}_{split}.parquet", table)
                metrics |= {f"{name}_{split}_{count}": value for count, value in counts.items()}
                if name == "viquae":
                    metrics[f"{name}_{split}_without_own_article"] = sum(not len(ids) for ids in own)
    return metrics


if __name__ == "__main__":
    run_stage(main, "kvqae.training_pairs", TrainingPairsParameters)
