"""DPR fine-tuning: from the zero-shot encoders, on ViQuAE's training questions (kvqae.md §3)."""

from functools import partial
from pathlib import Path
from typing import ClassVar

from pydantic import Field

from trivium.core.stage import Context, run_stage
from trivium.core.tasks import run_task
from trivium.kvqae.retrieval.dpr_training import DprParameters, train_dual_encoder
from trivium.nets.bert import TOWERS


class DprFinetuneParameters(DprParameters):
    """Section `kvqae.dpr_finetune`."""

    elsewhere: ClassVar = {**DprParameters.elsewhere, "start": "kvqae.text_encoders.dpr_zero_shot.model"}
    start: Path = Field(description="Folder of the zero-shot encoders: trained here, or published")


def main(
    parameters: DprFinetuneParameters,
    context: Context,
    *,
    train: Path = Path("data/kvqae/pairs/viquae_train.parquet"),
    validation: Path = Path("data/kvqae/pairs/viquae_validation.parquet"),
    passages: Path = Path("data/kvqae/kb/passages.parquet"),
    articles: Path = Path("data/kvqae/kb/articles.parquet"),
    out: Path = Path("models/kvqae/dpr/few_shot"),
) -> dict[str, float]:
    """Go on training the pretrained question and passage encoders."""
    task = partial(
        train_dual_encoder,
        # A worker does not know this script's class, and `start` would travel beside both its folders.
        parameters=DprParameters(**parameters.model_dump(exclude={"start"})),
        starts={tower: parameters.start / tower for tower in TOWERS},
        train=train,
        validation=validation,
        passages=passages,
        articles=articles,
        card={
            "title": "Trivium DPR, few-shot",
            "description": "Dense passage retrieval by inner product of [CLS] vectors, fine-tuned on ViQuAE.",
            "base": f"{parameters.start}",
            "data": f"{train} (ViQuAE, or the sample world's counterpart)",
        },
    )
    return run_task(context, task, out, description="DPR")


if __name__ == "__main__":
    run_stage(
        main,
        "kvqae.dpr_finetune",
        DprFinetuneParameters,
        metrics="metrics/kvqae/dpr_finetune.json",
        curves="metrics/kvqae/curves/dpr_finetune.csv",
    )
