"""Stage `kvqae-reader_pretrain`. Reader on TriviaQA: zero-shot."""

from functools import partial
from pathlib import Path

from trivium.core.stage import Context, run_stage
from trivium.core.tasks import run_task
from trivium.kvqae.reader.inputs import TrainingData
from trivium.kvqae.reader.reader_training import DATA, ReaderPretrainParameters, take_published, train_reader


def main(
    parameters: ReaderPretrainParameters,
    context: Context,
    *,
    base: Path = Path("models/kvqae/base/text"),
    published: Path = Path("models/kvqae/published/reader"),
    questions: Path = Path("data/kvqae/{kvqae.dataset}/triviaqa"),
    runs: Path = Path("data/kvqae/runs/bm25_triviaqa"),
    passages: Path = Path("data/kvqae/kb/passages.parquet"),
    articles: Path = Path("data/kvqae/kb/articles.parquet"),
    out: Path = Path("models/kvqae/reader/zero_shot"),
) -> dict[str, float]:
    """Train a reader from a plain encoder; folders hold one file a split, `train` and `validation`.

    Where --published holds `reader`, that is taken instead.
    """
    if (published / "reader").is_dir():
        return take_published(
            parameters, published / "reader", source=TrainingData(questions, runs, passages, articles), out=out
        )  # fmt: skip
    task = partial(
        train_reader,
        parameters=parameters,
        reduction=parameters.loss,
        seed=parameters.seed,
        base=base,
        base_name=str(base),
        new_heads=True,
        source=TrainingData(questions, runs, passages, articles),
        data=DATA,
    )
    return run_task(context, task, out, description="reader")


if __name__ == "__main__":
    run_stage(
        main,
        "kvqae.reader_pretrain",
        ReaderPretrainParameters,
        metrics="metrics/kvqae/reader_pretrain.json",
        curves="metrics/kvqae/curves/reader_pretrain.csv",
    )
