"""DPR fine-tuning: from the zero-shot encoders, on ViQuAE's training questions (kvqae.md §3)."""

from pathlib import Path

from trivium.harness.stage import Context, run_stage
from trivium.kvqae.retrieval.dpr_training import DprParameters, train_dual_encoder
from trivium.nets.dual_encoder import TOWERS


class DprFinetuneParameters(DprParameters):
    """Section `kvqae.dpr_finetune`."""


def main(
    parameters: DprFinetuneParameters,
    context: Context,
    *,
    start: Path,
    train: Path,
    validation: Path,
    passages: Path,
    articles: Path,
    out: Path,
) -> dict[str, float]:
    """Go on training the pretrained question and passage encoders."""
    return train_dual_encoder(
        parameters,
        context,
        starts={tower: start / tower for tower in TOWERS},
        train=train,
        validation=validation,
        passages=passages,
        articles=articles,
        out=out,
        card={
            "title": "Trivium DPR, few-shot",
            "description": "Dense passage retrieval by inner product of [CLS] vectors, fine-tuned on ViQuAE.",
            "base": f"{start}",
            "data": f"{train} (ViQuAE, or the sample world's counterpart)",
        },
    )


if __name__ == "__main__":
    run_stage(main, "kvqae.dpr_finetune", DprFinetuneParameters)
