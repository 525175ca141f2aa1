"""Stage `complexity-contrasts`. Facts with a factor and without it, asked of readers of two corpora."""

from functools import partial
from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import Field

from trivium.complexity.readers.contrasting import contrast_job
from trivium.complexity.readers.interface import AnyReaderSettings
from trivium.core.parameters import Parameters, shared
from trivium.core.stage import Context, stage
from trivium.core.tables import read_table
from trivium.core.tasks import run_task
from trivium.formats.facts import FACTORS, sides
from trivium.measures.bootstrap import mean_contrast

LOADS = {"trivium.complexity.readers.kinds": "complexity.finetune.models.${item.name}.kind"}  # of the family, per cell


class ContrastsParameters(Parameters):
    """Section `complexity.contrasts`."""

    readers: tuple[str, ...] = Field(min_length=1, description="Readers, of `complexity.finetune.models`")
    seeds: tuple[Annotated[int, Field(ge=0)], ...] = Field(min_length=1, description="Trainings on either corpus")
    batch_size: int = Field(default=64, ge=1, description="Readings together")
    settings: AnyReaderSettings = shared(
        "complexity.finetune.models.{name}", description="The reader's, checked by its kind"
    )
    checkpoint_every: int = shared(
        "complexity.finetune.checkpoint_every", ge=1, description="Steps between checkpoints"
    )


@stage("complexity.contrasts", metrics="metrics/complexity/contrasts_{name}_{seed}.json", curves=True)
def main(
    parameters: ContrastsParameters,
    context: Context,
    *,
    name: str,
    seed: int,
    base: Path = Path("models/complexity/base"),
    crossed: Path = Path("data/complexity/raw/crossed"),
    out: Path = Path("data/complexity/contrasts/{name}/seed-{seed}.parquet"),
) -> dict[str, float]:
    """Train the reader --name with --seed on each corpus of --crossed, and write its scores of all facts to --out.

    Returns:
        Those of `contrast_job`, and of each factor `{factor}_delta_points`, the mean score with it less that without
        it, with `_low`, `_high` over facts. A world without such facts has none of them.
    """
    task = partial(contrast_job, name=name, settings=parameters.settings, seed=seed, crossed=crossed,
                   base=base / parameters.settings.base, batch_size=parameters.batch_size,
                   checkpoint_every=parameters.checkpoint_every)  # fmt: skip
    metrics = run_task(context, task, out, description=f"{name} {seed}")
    scores = read_table(out)
    for factor in FACTORS:
        facts, without, present = sides(scores, factor)
        if facts:
            mean = mean_contrast([100 * np.expand_dims(present - without, 1)])
            low, high = mean.interval()
            name = f"{factor}_delta_points"
            metrics |= {name: mean.value, f"{name}_low": low, f"{name}_high": high}
    return metrics
