"""Stage `decorrelation-train`. A retrieval model on D, D' or both, or left as it is (decorrelation.md §4)."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from trivium.core.errors import BadInput
from trivium.core.stage import Context, stage
from trivium.core.tables import read_json
from trivium.core.tasks import run_task
from trivium.decorrelation.matrix import parse_cell
from trivium.decorrelation.models.kind import KINDS
from trivium.decorrelation.training_job import PARAMS, TrainJob, TrainParameters, train_job
from trivium.nets.cards import write_card

# Of these families a cell loads its own members alone.
LOADS = {"trivium.decorrelation.models.kinds": "${item.model}", "trivium.decorrelation.painting.fillings": "none"}
_PROVENANCE = "provenance.json"


@stage("decorrelation.train", metrics="metrics/decorrelation/train_{cell}.json", curves=True)
def main(
    parameters: TrainParameters,
    context: Context,
    *,
    cell: str,
    dataset: str,
    filling: str,
    captions: str,
    raw: Path = Path("data/decorrelation/raw/{dataset}"),
    pairs: Path = Path("data/decorrelation/pairs/{dataset}/{filling}_{captions}.parquet"),
    painted: Path = Path("data/decorrelation/painted/{dataset}/{filling}"),
    base: Path = Path("models/decorrelation/base"),
    out: Path = Path("models/decorrelation/cells/{cell}"),
) -> dict[str, float]:
    """Train the model of --cell on its part of D and of D', or leave it untouched (zero_shot); export it with a card.

    The cell's --dataset, --filling and --captions say where these are.
    """
    fields = parse_cell(cell, parameters.cell, PARAMS)
    settings = parameters.settings_of(fields.model)
    folder = base / settings.base.replace("{dataset}", dataset)
    if not folder.is_dir():
        raise BadInput("no such base model", file=folder, field=f"models.{fields.model}.base",
                       choices=sorted(path.name for path in base.iterdir() if path.is_dir()))  # fmt: skip
    if fields.variant == "zero_shot" and not KINDS[fields.model].is_whole(folder):
        raise BadInput("a CNN alone cannot be asked untouched", file=folder, field=f"models.{fields.model}.base",
                       expected="a whole model")  # fmt: skip
    job = TrainJob(fields, settings, parameters, raw, pairs, painted, folder)
    return run_task(context, partial(train_job, job=job, card=_card(job)), out, description=cell)


def _card(job: TrainJob) -> Callable[..., None]:
    path = job.base / _PROVENANCE
    origin = read_json(path) if path.exists() else {"from": job.base.name, "licence": "other"}
    trained = (
        f"{job.raw} and {job.pairs}, share {job.cell.share:g} of the latter; original pictures: {job.cell.original}"
    )
    return partial(
        write_card,
        title=f"{job.cell.model}, {job.cell.variant}, seed {job.cell.seed}: image-text retrieval",
        description="Pictures and sentences in one space (decorrelation: objects painted out of training pictures).",
        base=origin["from"],
        data=f"{trained}; the world is what `world` in params.yaml says" if job.steps else "nothing besides",
        licence=origin["licence"],
    )
