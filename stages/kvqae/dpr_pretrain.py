"""Stage `kvqae-dpr_pretrain`. DPR on TriviaQA: zero-shot."""

from functools import partial
from pathlib import Path

from trivium.core.stage import Context, run_stage
from trivium.core.tasks import run_task
from trivium.kvqae.retrieval.dpr_training import CARD, DprPretrainParameters, take_published, train_dual_encoder
from trivium.nets.bert import TOWERS


def main(
    parameters: DprPretrainParameters,
    context: Context,
    *,
    base: Path = Path("models/kvqae/base/text"),
    published: Path = Path("models/kvqae/published/dpr"),
    train: Path = Path("data/kvqae/pairs/triviaqa_train.parquet"),
    validation: Path = Path("data/kvqae/pairs/triviaqa_validation.parquet"),
    passages: Path = Path("data/kvqae/kb/passages.parquet"),
    articles: Path = Path("data/kvqae/kb/articles.parquet"),
    out: Path = Path("models/kvqae/dpr/zero_shot"),
) -> dict[str, float]:
    """Train question and passage encoder from the same text encoder; they share nothing afterwards.

    Where --published holds both, they are taken instead.
    """
    if (published / "question").is_dir():
        return take_published(
            parameters,
            published,
            validation=validation,
            passages=passages,
            articles=articles,
            work=context.work,
            out=out,
        )
    task = partial(
        train_dual_encoder,
        parameters=parameters,
        starts=dict.fromkeys(TOWERS, base),
        train=train,
        validation=validation,
        passages=passages,
        articles=articles,
        card=CARD
        | {
            "base": f"{base}",
            "data": f"{train} (TriviaQA without ViQuAE's questions, or the sample world's counterpart)",
        },
    )
    return run_task(context, task, out, description="DPR")


if __name__ == "__main__":
    run_stage(
        main,
        "kvqae.dpr_pretrain",
        DprPretrainParameters,
        metrics="metrics/kvqae/dpr_pretrain.json",
        curves="metrics/kvqae/curves/dpr_pretrain.csv",
    )
