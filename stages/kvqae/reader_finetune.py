"""Fine-tune the reader on ViQuAE with a multimodal run: the few-shot reader, one a seed (kvqae.md §5)."""

from pathlib import Path

from stages.kvqae.reader_training import ReaderTrainingParameters, run_training
from stages.stage import Context, run_stage


class ReaderFinetuneParameters(ReaderTrainingParameters):
    """Section `kvqae.reader_finetune`."""


def main(
    parameters: ReaderFinetuneParameters,
    context: Context,
    *,
    base: Path,
    questions: Path,
    runs: Path,
    passages: Path,
    articles: Path,
    seed: int,
    out: Path,
) -> dict[str, float]:
    """Go on from the zero-shot reader; the seed draws dropout, the order of questions, the passages."""
    return run_training(
        parameters,
        context,
        seed=seed,
        base=base,
        new_heads=False,
        questions=questions,
        runs=runs,
        passages=passages,
        articles=articles,
        out=out,
        data="ViQuAE",
    )


if __name__ == "__main__":
    run_stage(main, "kvqae.reader_finetune", ReaderFinetuneParameters)
