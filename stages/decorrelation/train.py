"""Stage `decorrelation-train`. A retrieval model on D, D' or both, or left as it is (decorrelation.md §4)."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from pydantic import Field

from trivium.core.errors import BadInput
from trivium.core.parameters import Parameters, validate
from trivium.core.stage import Context, run_stage
from trivium.core.tables import read_json
from trivium.core.tasks import run_task
from trivium.decorrelation.matrix import parse_cell
from trivium.decorrelation.models.kind import KINDS, ModelSettings
from trivium.decorrelation.training.job import TrainJob, train_job
from trivium.nets.cards import write_card

# Of these families a cell loads its own members alone.
LOADS = {"trivium.decorrelation.models.kinds": "${item.model}", "trivium.decorrelation.painting.fillings": "none"}
_PROVENANCE = "provenance.json"
ZERO_SHOT = "zero_shot"
PARAMS = Path("params.yaml")  # where messages look


class TrainParameters(Parameters):
    """Section `decorrelation.train`."""

    checkpoint_every: int = Field(ge=1, description="Steps between checkpoints")
    memory: int = Field(ge=0, description="Bytes of training pictures that a process keeps instead of decoding again")
    workers: int = Field(ge=0, description="Processes that decode pictures ahead, for each GPU; 0: none besides")
    threads: int | None = Field(ge=1, description="CPU threads of a process, null: all; small networks like one best")
    processes: int | None = Field(ge=1, description="Training processes, null: one a GPU, one without any")
    validation_pictures: int = Field(ge=0, description="Validation pictures asked at the end, with their captions")
    validation_batch: int = Field(ge=1, description="Pictures or captions encoded together in validation")
    models: dict[str, dict[str, Any]] = Field(min_length=1, description="What each model is told, by its kind")
    cell: dict[str, Any] = Field(default={}, description="The cell's fields, from `decorrelation.cells`")

    elsewhere: ClassVar = {"cell": "decorrelation.cells.{cell}"}

    def told(self, kind: str) -> ModelSettings:
        """What a model is told.

        Raises:
            BadInput: no such kind, no settings of it, or settings that are not its own.
        """
        section, settings = f"decorrelation.train.models.{kind}", KINDS[kind].Settings
        if kind not in self.models:
            raise BadInput("no such model", field=section, choices=self.models)
        return validate(settings, self.models[kind], section, PARAMS)


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
    """Train the model of --cell on its part of D and of D'; export it with a card.

    The cell's --dataset, --filling and --captions say where these are.

    Variant zero_shot exports it untouched.
    """
    said = parse_cell(cell, parameters.cell, PARAMS)
    settings = parameters.told(said.model)
    folder = base / settings.base
    if not folder.is_dir():
        raise BadInput("no such base model", file=folder, field=f"models.{said.model}.base",
                       choices=sorted(path.name for path in base.iterdir() if path.is_dir()))  # fmt: skip
    job = TrainJob(
        kind=said.model,
        settings=settings,
        steps=0 if said.variant == ZERO_SHOT else max(1, round(said.steps * settings.steps)),
        original=said.original,
        share=said.share,
        captions=said.captions_an_image,
        seed=said.seed,
        raw=raw,
        pairs=pairs,
        painted=painted,
        base=folder,
        checkpoint_every=parameters.checkpoint_every,
        memory=parameters.memory,
        workers=parameters.workers,
        threads=parameters.threads,
        processes=parameters.processes,
        validation_pictures=parameters.validation_pictures,
        validation_batch=parameters.validation_batch,
    )
    return run_task(context, partial(train_job, job=job, card=_card(job, said.variant)), out, description=cell)


def _card(job: TrainJob, variant: str) -> Callable[..., None]:
    path = job.base / _PROVENANCE
    origin = read_json(path) if path.exists() else {"from": job.base.name, "licence": "other"}
    trained = f"{job.raw} and {job.pairs}, share {job.share:g} of the latter; original pictures: {job.original}"
    return partial(
        write_card,
        title=f"{job.kind}, {variant}, seed {job.seed}: image-text retrieval",
        description="Pictures and sentences in one space (decorrelation: objects painted out of training pictures).",
        base=origin["from"],
        data=f"{trained}; the world is what `world` in params.yaml says" if job.steps else "nothing besides",
        licence=origin["licence"],
    )


if __name__ == "__main__":
    run_stage(
        main,
        "decorrelation.train",
        TrainParameters,
        metrics="metrics/decorrelation/train_{cell}.json",
        curves="metrics/decorrelation/curves/train_{cell}.csv",
    )
