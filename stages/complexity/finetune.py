"""Stage `complexity-finetune`. Readers fine-tuned on the adaptation corpus, one a model and seed."""

from functools import partial
from pathlib import Path

from trivium.complexity.readers.finetuning import FinetuneParameters, finetune_job
from trivium.core.errors import BadInput
from trivium.core.stage import Context, stage
from trivium.core.tables import read_json
from trivium.core.tasks import run_task
from trivium.nets.cards import write_card

LOADS = {"trivium.complexity.readers.kinds": "complexity.finetune.models.${item.name}.kind"}  # of the family, per cell


@stage("complexity.finetune", metrics="metrics/complexity/finetune_{name}_{seed}.json", curves=True)
def main(
    parameters: FinetuneParameters,
    context: Context,
    *,
    name: str,
    seed: int,
    base: Path = Path("models/complexity/base"),
    train: Path = Path("data/complexity/raw/fquad/train.json"),
    validation: Path = Path("data/complexity/raw/fquad/validation.json"),
    out: Path = Path("models/complexity/readers/{name}/seed-{seed}"),
) -> dict[str, float]:
    """Train the model --name with --seed from its folder in --base; export it with a card."""
    settings = parameters.settings
    folder = base / settings.base
    if not folder.is_dir():
        raise BadInput("no such base model", file=folder, field=f"models.{name}.base",
                       choices=sorted(path.name for path in base.iterdir() if path.is_dir()))  # fmt: skip
    provenance = folder / "provenance.json"
    origin = read_json(provenance) if provenance.exists() else {"from": settings.base, "licence": "other"}
    weak = " A small configuration that hardly reads: it shows that the path works, no more." if settings.weak else ""
    card = partial(
        write_card,
        title=f"{settings.label}, reader of French questions, seed {seed}",
        description=f"Answers a question from a French context with words of that context.{weak}",
        base=origin["from"],
        data=f"{train}, from the world that `world.fquad` in params.yaml names (`sample`: generated sentences)",
        licence=origin["licence"],
    )
    sets = {"train": train, "validation": validation}
    task = partial(finetune_job, parameters=parameters, seed=seed, base=folder, sets=sets, card=card)
    return run_task(context, task, out, description=f"{name} {seed}")
