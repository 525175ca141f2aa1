"""Stage `kvqae-training_pairs`. Questions with positive and hard negative passages."""

from pathlib import Path
from typing import ClassVar

from pydantic import Field

from trivium.core.errors import BadInput
from trivium.core.parameters import Parameters
from trivium.core.stage import Context, run_stage
from trivium.core.tables import write_table
from trivium.formats.questions import read_questions
from trivium.formats.trec import read_run_over
from trivium.kvqae.retrieval.training_pairs import make_pairs, own_passages
from trivium.measures.runs import Run


class TrainingPairsParameters(Parameters):
    """Section `kvqae.training_pairs`."""

    elsewhere: ClassVar = {"depth": "kvqae.depth"}
    depth: int = Field(ge=1, description="BM25's best passages that positives and negatives come from")


def main(
    parameters: TrainingPairsParameters,
    context: Context,
    *,
    questions: Path,
    runs: Path,
    passages: Path = Path("data/kvqae/kb/passages.parquet"),
    articles: Path = Path("data/kvqae/kb/articles.parquet"),
    out_train: Path,
    out_validation: Path,
) -> dict[str, float]:
    """Make the pairs of a data set, training and validation."""
    metrics: dict[str, float] = {}
    for split, out in (("train", out_train), ("validation", out_validation)):
        asked = read_questions(questions / f"{split}.jsonl")
        run = read_run_over(runs / f"{split}.trec", [question.id for question in asked])
        run = Run(run.queries, run.documents[:, : parameters.depth], run.scores[:, : parameters.depth])
        own = own_passages(asked, passages, articles)
        table, counts = make_pairs(asked, run, own, passages, articles)
        if not len(table):
            raise BadInput("no question has both a positive and a negative", file=runs / f"{split}.trec")
        write_table(out, table)
        metrics |= {f"{split}_{count}": value for count, value in counts.items()}
        metrics[f"{split}_without_own_article"] = sum(not len(ids) for ids in own)
    return metrics


if __name__ == "__main__":
    run_stage(main, "kvqae.training_pairs", TrainingPairsParameters)
