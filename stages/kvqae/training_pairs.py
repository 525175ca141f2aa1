"""Stage `kvqae-training_pairs`. Questions with positive and hard negative passages."""

from pathlib import Path
from typing import ClassVar

from pydantic import Field

from trivium.errors import BadInput
from trivium.files.atomic import write_atomically
from trivium.files.tables import write_table
from trivium.formats.questions import read_questions
from trivium.formats.trec import read_run_over
from trivium.harness.parameters import Parameters
from trivium.harness.stage import Context, run_stage
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
