"""Stage `kvqae-rerank_finetune`. Fine-tune the few-shot cross-encoder on ViQuAE (kvqae.md §4)."""

from functools import partial
from pathlib import Path

from trivium.core.stage import Context, stage
from trivium.core.tasks import run_task
from trivium.kvqae.reader.inputs import TrainingData
from trivium.kvqae.rerankers.cross_encoder import CrossEncoderTrainingParameters, train_cross_encoder


@stage("kvqae.rerank_finetune", metrics="metrics/kvqae/rerank_finetune.json", curves=True)
def main(
    parameters: CrossEncoderTrainingParameters,
    context: Context,
    *,
    base: Path = Path("models/kvqae/cross_encoder/zero_shot"),
    questions: Path = Path("data/kvqae/{kvqae.dataset}/viquae"),
    runs: Path = Path("data/kvqae/runs/fused/dpr_few_shot_image"),
    kb: Path = Path("data/kvqae/kb"),
    out: Path = Path("models/kvqae/cross_encoder/few_shot"),
) -> dict[str, float]:
    """Fine-tune the zero-shot cross-encoder on a multimodal run."""
    task = partial(
        train_cross_encoder,
        parameters=parameters,
        base=base,
        base_name=str(base),
        new_perceptron=False,
        source=TrainingData(questions, runs, kb),
        data="ViQuAE",
    )
    return run_task(context, task, out, description="cross-encoder")
