"""Fine-tune the cross-encoder on ViQuAE with a multimodal run: few-shot (kvqae.md §4)."""

from pathlib import Path

from trivium.harness.stage import Context, run_stage
from trivium.kvqae.rerankers.cross_encoder_training import CrossEncoderTrainingParameters, run_training


class RerankFinetuneParameters(CrossEncoderTrainingParameters):
    """Section `kvqae.rerank_finetune`."""


def main(
    parameters: RerankFinetuneParameters,
    context: Context,
    *,
    base: Path,
    questions: Path,
    runs: Path,
    passages: Path,
    articles: Path,
    out: Path,
) -> dict[str, float]:
    """Go on from the zero-shot cross-encoder; folders hold one file a split, `train` and `validation`."""
    return run_training(
        parameters,
        context,
        base=base,
        new_perceptron=False,
        questions=questions,
        runs=runs,
        passages=passages,
        articles=articles,
        out=out,
        data="ViQuAE",
    )


if __name__ == "__main__":
    run_stage(main, "kvqae.rerank_finetune", RerankFinetuneParameters)
