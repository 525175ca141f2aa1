"""Pretrain the cross-encoder on TriviaQA with BM25's passages of all articles: zero-shot (kvqae.md §4)."""

from pathlib import Path

from trivium.harness.stage import Context, run_stage
from trivium.kvqae.rerankers.cross_encoder_training import CrossEncoderTrainingParameters, run_training


class RerankPretrainParameters(CrossEncoderTrainingParameters):
    """Section `kvqae.rerank_pretrain`."""


def main(
    parameters: RerankPretrainParameters,
    context: Context,
    *,
    base: Path,
    questions: Path,
    runs: Path,
    passages: Path,
    articles: Path,
    out: Path,
) -> dict[str, float]:
    """Train a cross-encoder from a plain encoder; folders hold one file a split, `train` and `validation`."""
    return run_training(
        parameters,
        context,
        base=base,
        new_perceptron=True,
        questions=questions,
        runs=runs,
        passages=passages,
        articles=articles,
        out=out,
        data="TriviaQA without the questions of ViQuAE",
    )


if __name__ == "__main__":
    run_stage(main, "kvqae.rerank_pretrain", RerankPretrainParameters)
