"""DPR pretraining: TriviaQA questions without ViQuAE's, negatives from BM25 over all articles (kvqae.md §3)."""

from pathlib import Path

from stages.kvqae.dpr_training import DprParameters, train_dual_encoder
from stages.nets.dual_encoder import TOWERS
from stages.stage import Context, run_stage


class DprPretrainParameters(DprParameters):
    """Section `kvqae.dpr_pretrain`."""


def main(
    parameters: DprPretrainParameters,
    context: Context,
    *,
    base: Path,
    train: Path,
    validation: Path,
    passages: Path,
    articles: Path,
    out: Path,
) -> dict[str, float]:
    """Train question and passage encoder from the same text encoder; they share nothing afterwards."""
    return train_dual_encoder(
        parameters,
        context,
        starts=dict.fromkeys(TOWERS, base),
        train=train,
        validation=validation,
        passages=passages,
        articles=articles,
        out=out,
        card={
            "title": "Trivium DPR, zero-shot",
            "description": "Dense passage retrieval by inner product of [CLS] vectors, trained on TriviaQA alone.",
            "base": f"{base}",
            "data": f"{train} (TriviaQA without ViQuAE's questions, or the sample world's counterpart)",
        },
    )


if __name__ == "__main__":
    run_stage(main, "kvqae.dpr_pretrain", DprPretrainParameters)
