"""Pretrain the reader on TriviaQA with BM25's passages of all articles: the zero-shot reader (kvqae.md §5)."""

from pathlib import Path

from pydantic import Field

from stages.kvqae.reader_training import ReaderTrainingParameters, run_training
from stages.nets.reader import PassageReduction
from stages.stage import Context, run_stage


class ReaderPretrainParameters(ReaderTrainingParameters):
    """Section `kvqae.reader_pretrain`."""

    seed: int = Field(ge=0, description="Of the new heads, dropout, the order of questions, the passages")
    loss: PassageReduction = Field(description="Over a question's passages; max: the authors' first code")


def main(
    parameters: ReaderPretrainParameters,
    context: Context,
    *,
    base: Path,
    questions: Path,
    runs: Path,
    passages: Path,
    articles: Path,
    out: Path,
) -> dict[str, float]:
    """Train a reader from a plain encoder; folders hold one file a split, `train` and `validation`."""
    return run_training(
        parameters,
        context,
        reduction=parameters.loss,
        seed=parameters.seed,
        base=base,
        new_heads=True,
        questions=questions,
        runs=runs,
        passages=passages,
        articles=articles,
        out=out,
        data="TriviaQA without the questions of ViQuAE",
    )


if __name__ == "__main__":
    run_stage(main, "kvqae.reader_pretrain", ReaderPretrainParameters)
