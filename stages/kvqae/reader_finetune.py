"""Stage `kvqae-reader_finetune`. Fine-tune the few-shot readers on ViQuAE, one for each loss and seed (kvqae.md §5)."""

from functools import partial
from pathlib import Path

from trivium.core.stage import Context, stage
from trivium.core.tasks import run_task
from trivium.formats.questions import read_questions
from trivium.kvqae.reader.inputs import TrainingData
from trivium.kvqae.reader.reader_training import ReaderFinetuneParameters, train_reader
from trivium.kvqae.retrieval.training_pairs import own_passages


@stage("kvqae.reader_finetune", metrics="metrics/kvqae/reader_finetune_{reader}_{seed}.json", curves=True)
def main(
    parameters: ReaderFinetuneParameters,
    context: Context,
    *,
    base: Path = Path("models/kvqae/reader/zero_shot"),
    max_base: Path = Path("models/kvqae/reader/{kvqae.reader_finetune.max_start}"),
    questions: Path = Path("data/kvqae/{kvqae.dataset}/viquae"),
    runs: Path = Path("data/kvqae/runs/fused/dpr_few_shot_image"),
    kb: Path = Path("data/kvqae/kb"),
    reader: str,
    seed: int,
    out: Path = Path("models/kvqae/reader/{reader}/seed-{seed}"),
) -> dict[str, float]:
    """Fine-tune a zero-shot reader on a multimodal run; the seed is that of dropout, order and passages.

    Without relevant retrieved passages, a question is trained on the relevant passages of its own article.
    """
    reduction = parameters.losses[reader]
    start = max_base if reduction == "max" else base
    task = partial(
        train_reader,
        parameters=parameters,
        reduction=reduction,
        seed=seed,
        base=start,
        base_name=str(start),
        new_heads=False,
        source=TrainingData(questions, runs, kb),
        data="ViQuAE",
        own=own_passages(read_questions(questions / "train.jsonl"), kb),
    )
    return run_task(context, task, out, description=f"{reader} {seed}")
