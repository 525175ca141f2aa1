"""Stage `kvqae-published_checkpoints`. The authors' zero-shot DPR and reader, where they replace pretraining."""

from pathlib import Path

from pydantic import Field

from trivium.core.atomic import write_atomically
from trivium.core.errors import BadInput
from trivium.core.parameters import Parameters
from trivium.core.stage import Context, run_stage
from trivium.core.tables import write_json


class PublishedCheckpointsParameters(Parameters):
    """Section `kvqae.published_checkpoints`."""

    use: bool = Field(
        description="Start from the authors' zero-shot DPR and reader, do not pretrain; only with world.kvqae: hub"
    )


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

    Raises:
        BadInput: see `fetch_checkpoints`; or they are asked for in a world that is not --source hub, or with questions
            other than the released ones, --dataset raw, which they were trained without.
    """
    if parameters.use and source != "hub":
        raise BadInput(
            "the published checkpoints go with the public data", field="kvqae.published_checkpoints.use", got=True,
            expected=f"false where world.kvqae is {source}",
        )  # fmt: skip
    if parameters.use and dataset != "raw":
        raise BadInput(
            "the published checkpoints were trained without the released questions, not without rebuilt ones",
            field="kvqae.dataset", got=dataset, expected="kvqae.published_checkpoints.use: false, or another data set",
            choices=["raw"],
        )  # fmt: skip
    if parameters.use:
        from trivium.sources.kvqae.published import fetch_checkpoints

        return fetch_checkpoints(system, base, out, context.downloads)
    with write_atomically(out) as beside:
        write_json(beside / "provenance.json", {})
    return {}


if __name__ == "__main__":
    run_stage(
        main,
        "kvqae.published_checkpoints",
        PublishedCheckpointsParameters,
        metrics="metrics/kvqae/published_checkpoints_{system}.json",
    )
