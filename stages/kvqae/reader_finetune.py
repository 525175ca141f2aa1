"""Fine-tune the reader on ViQuAE with a multimodal run: the few-shot readers, one a loss and seed (kvqae.md §5)."""

from pathlib import Path

from pydantic import Field

from trivium.errors import BadInput
from trivium.formats.questions import read_questions
from trivium.harness.stage import Context, run_stage
from trivium.kvqae.reader.reader_training import ReaderTrainingParameters, run_training
from trivium.kvqae.retrieval.training_pairs import own_passages
from trivium.nets.reader import PassageReduction


class ReaderFinetuneParameters(ReaderTrainingParameters):
    """Section `kvqae.reader_finetune`."""

    losses: dict[str, PassageReduction] = Field(
        min_length=1, description="By reader, the loss over a question's passages; max: the authors' first code"
    )


def main(
    parameters: ReaderFinetuneParameters,
    context: Context,
    *,
    base: Path,
    questions: Path,
    runs: Path,
    passages: Path,
    articles: Path,
    reader: str,
    seed: int,
    out: Path,
) -> dict[str, float]:
    """Go on from the zero-shot reader; the seed draws dropout, the order of questions, the passages.

    Where nothing relevant was retrieved, a question learns from the relevant passages of its own article.

    Raises:
        BadInput: no loss is given for `reader`; see `run_training`.
    """
    if reader not in parameters.losses:
        raise BadInput("no such reader", field="kvqae.reader_finetune.losses", got=reader, choices=parameters.losses)
    return run_training(
        parameters,
        context,
        reduction=parameters.losses[reader],
        seed=seed,
        base=base,
        new_heads=False,
        questions=questions,
        runs=runs,
        passages=passages,
        articles=articles,
        out=out,
        data="ViQuAE",
        own=own_passages(read_questions(questions / "train.jsonl"), passages, articles),
    )


if __name__ == "__main__":
    run_stage(main, "kvqae.reader_finetune", ReaderFinetuneParameters)
