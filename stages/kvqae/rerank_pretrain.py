"""Pretrain the cross-encoder on TriviaQA with BM25's passages of all articles: zero-shot (kvqae.md §4)."""

from functools import partial
from pathlib import Path

from trivium.core.stage import Context, run_stage
from trivium.core.tasks import run_task
from trivium.kvqae.reader.inputs import TrainingData
from trivium.kvqae.rerankers.cross_encoder_training import CrossEncoderTrainingParameters, train_cross_encoder


def main(
    parameters: CrossEncoderTrainingParameters,
    context: Context,
    *,
    base: Path = Path("models/kvqae/rerank_base"),
    questions: Path = Path("data/kvqae/{kvqae.dataset}/triviaqa"),
    runs: Path = Path("data/kvqae/runs/bm25_triviaqa"),
    passages: Path = Path("data/kvqae/kb/passages.parquet"),
    articles: Path = Path("data/kvqae/kb/articles.parquet"),
    out: Path = Path("models/kvqae/cross_encoder/zero_shot"),
) -> dict[str, float]:
    """Train a cross-encoder from a plain encoder; folders hold one file a split, `train` and `validation`."""
    task = partial(
        train_cross_encoder,
        parameters=parameters,
        base=base,
        base_name=str(base),
        new_perceptron=True,
        source=TrainingData(questions, runs, passages, articles),
        data="TriviaQA without the questions of ViQuAE",
    )
    return run_task(context, task, out, description="cross-encoder")


if __name__ == "__main__":
    run_stage(
        main,
        "kvqae.rerank_pretrain",
        CrossEncoderTrainingParameters,
        metrics="metrics/kvqae/rerank_pretrain.json",
        curves="metrics/kvqae/curves/rerank_pretrain.csv",
    )
