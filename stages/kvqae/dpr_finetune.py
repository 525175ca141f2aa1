"""Stage `kvqae-dpr_finetune`. Fine-tune the zero-shot DPR on ViQuAE's training questions (kvqae.md §3)."""

from functools import partial
from pathlib import Path
from typing import ClassVar

from pydantic import Field

from trivium.core.stage import Context, run_stage
from trivium.core.tables import write_json
from trivium.core.tasks import run_task
from trivium.kvqae.retrieval.dpr_training import DprParameters, train_dual_encoder
from trivium.kvqae.retrieval.training_pairs import PairFiles, write_pairs
from trivium.nets.bert import TOWERS


class DprFinetuneParameters(DprParameters):
    """Section `kvqae.dpr_finetune`."""

    places: ClassVar = {**DprParameters.places, "start": "kvqae.text_encoders.dpr_zero_shot.model"}
    start: Path = Field(description="Folder of the zero-shot encoders: trained here, or published")


def main(
    parameters: DprFinetuneParameters,
    context: Context,
    *,
    questions: Path = Path("data/kvqae/{kvqae.dataset}/viquae"),
    runs: Path = Path("data/kvqae/runs/text/bm25"),
    passages: Path = Path("data/kvqae/kb/passages.parquet"),
    articles: Path = Path("data/kvqae/kb/articles.parquet"),
    out_train: Path = Path("data/kvqae/pairs/viquae_train.parquet"),
    out_validation: Path = Path("data/kvqae/pairs/viquae_validation.parquet"),
    out_pairs_counts: Path = Path("metrics/kvqae/training_pairs_viquae.json"),
    out: Path = Path("models/kvqae/dpr/few_shot"),
) -> dict[str, float]:
    """Make training pairs, and fine-tune the pretrained encoders of questions and passages."""
    files = PairFiles(out_train, out_validation, passages, articles)
    write_json(out_pairs_counts, write_pairs(files, questions=questions, runs=runs, depth=parameters.depth))
    task = partial(
        train_dual_encoder,
        # A worker cannot import this script's class; `starts` has the folders of `start`.
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


if __name__ == "__main__":
    run_stage(main, "kvqae.dpr_finetune", metrics="metrics/kvqae/dpr_finetune.json", curves=True)
