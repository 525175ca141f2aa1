"""Stage `kvqae-dpr_pretrain`. Train the zero-shot DPR on TriviaQA (kvqae.md §3)."""

from functools import partial
from pathlib import Path

from trivium.core.stage import Context, stage
from trivium.core.tables import write_json
from trivium.core.tasks import run_task
from trivium.kvqae.retrieval.dpr_training import CARD, DprParameters, take_published, train_dual_encoder
from trivium.kvqae.retrieval.training_pairs import PairFiles, write_pairs
from trivium.nets.bert import TOWERS


@stage("kvqae.dpr_pretrain", metrics="metrics/kvqae/dpr_pretrain.json", curves=True)
def main(
    parameters: DprParameters,
    context: Context,
    *,
    base: Path = Path("models/kvqae/base/text"),
    published: Path = Path("models/kvqae/published/dpr"),
    questions: Path = Path("data/kvqae/{kvqae.dataset}/triviaqa"),
    runs: Path = Path("data/kvqae/runs/bm25_triviaqa"),
    kb: Path = Path("data/kvqae/kb"),
    out_train: Path = Path("data/kvqae/pairs/triviaqa_train.parquet"),
    out_validation: Path = Path("data/kvqae/pairs/triviaqa_validation.parquet"),
    out_pairs_counts: Path = Path("metrics/kvqae/training_pairs_triviaqa.json"),
    out: Path = Path("models/kvqae/dpr/zero_shot"),
) -> dict[str, float]:
    """Make training pairs, and train encoders of questions and passages, both from the same text encoder.

    The two share no weights. If --published has both, they are used instead.
    """
    files = PairFiles(out_train, out_validation, kb)
    write_json(out_pairs_counts, write_pairs(files, questions=questions, runs=runs, depth=parameters.depth))
    if (published / "question").is_dir():
        return take_published(parameters, published, files, work=context.work, out=out)
    data = f"{out_train} (TriviaQA without ViQuAE's questions, or the sample world's counterpart)"
    task = partial(
        train_dual_encoder,
        parameters=parameters,
        starts=dict.fromkeys(TOWERS, base),
        card=CARD | {"base": str(base), "data": data},
        files=files,
    )
    return run_task(context, task, out, description="DPR")
