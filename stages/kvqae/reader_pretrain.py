"""Stage `kvqae-reader_pretrain`. Train the zero-shot readers on TriviaQA, one cell for each loss (kvqae.md §5)."""

from functools import partial
from pathlib import Path

from trivium.core.stage import Context, stage
from trivium.core.tasks import run_task
from trivium.kvqae.reader.inputs import TrainingData
from trivium.kvqae.reader.reader_training import DATA, ReaderPretrainParameters, take_published, train_reader


@stage("kvqae.reader_pretrain", metrics="metrics/kvqae/reader_pretrain_{reader}.json", curves=True)
def main(
    parameters: ReaderPretrainParameters,
    context: Context,
    *,
    base: Path = Path("models/kvqae/base/text"),
    published: Path = Path("models/kvqae/published/reader"),
    questions: Path = Path("data/kvqae/{kvqae.dataset}/triviaqa"),
    runs: Path = Path("data/kvqae/runs/bm25_triviaqa"),
    kb: Path = Path("data/kvqae/kb"),
    reader: str,
    out: Path = Path("models/kvqae/reader/{reader}"),
) -> dict[str, float]:
    """Train a reader from a plain encoder.

    If --published has `reader`, it is used as the reader with the loss `mean`.
    """
    source = TrainingData(questions, runs, kb)
    if parameters.losses[reader] == "mean" and (published / "reader").is_dir():
        return take_published(parameters, published / "reader", source=source, out=out)
    task = partial(
        train_reader,
        parameters=parameters,
        reduction=parameters.losses[reader],
        seed=parameters.seed,
        base=base,
        base_name=str(base),
        new_heads=True,
        source=source,
        data=DATA,
    )
    return run_task(context, task, out, description="reader")
