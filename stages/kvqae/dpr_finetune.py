"""Stage `kvqae-dpr_finetune`. Fine-tune the zero-shot DPR on ViQuAE's training questions (kvqae.md §3)."""

from functools import partial
from pathlib import Path

from trivium.core.parameters import shared
from trivium.core.stage import Context, stage
from trivium.core.tables import write_json
from trivium.core.tasks import run_task
from trivium.kvqae.retrieval.dpr_training import DprParameters, train_dual_encoder
from trivium.kvqae.retrieval.training_pairs import PairFiles, write_pairs
from trivium.nets.bert import TOWERS


class DprFinetuneParameters(DprParameters):
    """Section `kvqae.dpr_finetune`."""

    start: Path = shared("kvqae.text_encoders.dpr_zero_shot.model", description="Folder of the zero-shot encoders")


@stage("kvqae.dpr_finetune", metrics="metrics/kvqae/dpr_finetune.json", curves=True)
def main(
    parameters: DprFinetuneParameters,
    context: Context,
    *,
    questions: Path = Path("data/kvqae/{kvqae.dataset}/viquae"),
    runs: Path = Path("data/kvqae/runs/text/bm25"),
    kb: Path = Path("data/kvqae/kb"),
    out_train: Path = Path("data/kvqae/pairs/viquae_train.parquet"),
    out_validation: Path = Path("data/kvqae/pairs/viquae_validation.parquet"),
    out_pairs_counts: Path = Path("metrics/kvqae/training_pairs_viquae.json"),
    out: Path = Path("models/kvqae/dpr/few_shot"),
) -> dict[str, float]:
    """Make training pairs, and fine-tune the pretrained encoders of questions and passages."""
    files = PairFiles(out_train, out_validation, kb)
    write_json(out_pairs_counts, write_pairs(files, questions=questions, runs=runs, depth=parameters.depth))
    task = partial(
        train_dual_encoder,
        # Without `start`, whose folders `starts` has: Ray would bring them twice.
        parameters=DprParameters(**parameters.model_dump(exclude={"start"})),
        starts={tower: parameters.start / tower for tower in TOWERS},
        card={
            "title": "Trivium DPR, few-shot",
            "description": "Dense passage retrieval by inner product of [CLS] vectors, fine-tuned on ViQuAE.",
            "base": str(parameters.start),
            "data": f"{out_train} (ViQuAE, or the sample world's counterpart)",
        },
        files=files,
    )
    return run_task(context, task, out, description="DPR")
