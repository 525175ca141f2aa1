"""Stage `decorrelation-base_models`. Where models start: small stand-ins of the released ones, or those."""

from pathlib import Path
from typing import TYPE_CHECKING

from sample.scene_models.stand_ins import DecorrelationBaseModelsParameters, make_stand_ins
from trivium.errors import BadInput
from trivium.harness.stage import Context, run_stage

if TYPE_CHECKING:
    pass


SOURCES = ("sample", "hub", "local")


def main(
    parameters: DecorrelationBaseModelsParameters, context: Context, *, source: str, out: Path, local: str = ""
) -> dict[str, float]:
    """Write a folder a model to --out.

    --source sample trains small ones, hub downloads the public models, local checks and takes those of --local.
    """
    if source == "sample":
        return make_stand_ins(parameters, context, out)
    if source == "hub":
        from trivium.sources.decorrelation.public_models import fetch_models

        return fetch_models(parameters.models, out, context.downloads)
    if source == "local":
        from trivium.sources.decorrelation.public_models import check_models

        if not local:
            raise BadInput(
                "no folder given", field="--local", expected="a folder laid out as models/decorrelation/base"
            )
        return check_models(parameters.models, Path(local), out)
    raise BadInput("no such source", field="world.decorrelation_models", got=source, choices=SOURCES)


if __name__ == "__main__":
    run_stage(main, "decorrelation.base_models", DecorrelationBaseModelsParameters)
