"""Stage `kvqae-reader_pretrain`. Reader on TriviaQA: zero-shot."""

from functools import partial
from pathlib import Path

from trivium.core.stage import Context, run_stage
from trivium.core.tasks import run_task
from trivium.kvqae.reader.pretraining import DATA, ReaderPretrainParameters, take_published
from trivium.kvqae.reader.reader_training import train_reader


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
    task = partial(
        train_reader,
        parameters=parameters,
        reduction=parameters.loss,
        seed=parameters.seed,
        base=base,
        base_name=str(base),
        new_heads=True,
        questions=questions,
        runs=runs,
        passages=passages,
        articles=articles,
        data=DATA,
    )
    return run_task(context, task, out, description="reader")


if __name__ == "__main__":
    run_stage(main, "kvqae.reader_pretrain", ReaderPretrainParameters)
