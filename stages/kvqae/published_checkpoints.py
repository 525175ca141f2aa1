"""Stage `kvqae-published_checkpoints`. Fetch the authors' zero-shot DPR and reader if they replace pretraining."""

from pathlib import Path

from pydantic import Field

from trivium.core.atomic import write_atomically
from trivium.core.errors import BadInput
from trivium.core.parameters import Parameters
from trivium.core.stage import Context, stage
from trivium.core.tables import write_json


class PublishedCheckpointsParameters(Parameters):
    """Section `kvqae.published_checkpoints`."""

    use: bool = Field(
        description="Start from the authors' zero-shot DPR and reader, do not pretrain; only with world.kvqae: hub"
    )


@stage("kvqae.published_checkpoints", metrics="metrics/kvqae/published_checkpoints_{system}.json")
def main(
    parameters: PublishedCheckpointsParameters,
    context: Context,
    *,
    system: str,
    source: str,
    dataset: str,
    base: Path = Path("models/kvqae/base/text"),
    out: Path = Path("models/kvqae/published/{system}"),
) -> dict[str, float]:
    """Write the published checkpoints of --system to --out, or `provenance.json` alone where they are not used.

    They need the public data and the released questions, which were not in their training data.
    """
    for field, got, expected in (("world.kvqae", source, "hub"), ("kvqae.dataset", dataset, "raw")):
        if parameters.use and got != expected:
            problem = "the published checkpoints are of the public data, trained without the released questions"
            expected = f"{expected}, or kvqae.published_checkpoints.use: false"
            raise BadInput(problem, field=field, got=got, expected=expected)
    if parameters.use:
        from trivium.sources.kvqae.models import fetch_checkpoints

        return fetch_checkpoints(system, base, out, context.downloads)
    with write_atomically(out) as target:
        write_json(target / "provenance.json", {})
    return {}
