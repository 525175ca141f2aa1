"""Stage `kvqae-reader_pretrain`. Reader on TriviaQA: zero-shot."""

from pathlib import Path

from trivium.harness.stage import Context, run_stage
from trivium.kvqae.reader.pretraining import DATA, ReaderPretrainParameters, take_published
from trivium.kvqae.reader.reader_training import run_training


def main(
    parameters: ReaderPretrainParameters,
    context: Context,
    *,
    base: Path,
    published: Path,
    questions: Path,
    runs: Path,
    passages: Path,
    articles: Path,
    out: Path,
) -> dict[str, float]:
    """Train a reader from a plain encoder; folders hold one file a split, `train` and `validation`.

    Where --published holds `reader`, that is taken instead.
    """
    if (published / "reader").is_dir():
        return take_published(
            parameters, published / "reader", questions=questions, runs=runs, passages=passages, articles=articles,
            out=out,
        )  # fmt: skip
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
        data=DATA,
    )


if __name__ == "__main__":
    run_stage(main, "kvqae.reader_pretrain", ReaderPretrainParameters)
