"""Stage `decorrelation-base_models`. Where models start: small stand-ins of the released ones, or those."""

from pathlib import Path
from typing import ClassVar

from pydantic import Field

from sample.scene_models.settings import DecorrelationBaseModelsParameters
from sample.scene_models.stand_ins import make_stand_ins
from trivium.core.errors import BadInput
from trivium.core.stage import Context, run_stage

SOURCES = ("sample", "hub", "local")


class BaseModelsParameters(DecorrelationBaseModelsParameters):
    """Section `decorrelation.base_models`, and where the models come from."""

    source: str = Field(default="sample", description="Where the models come from")
    local: str = Field(default="", description="Folder of your own models, for source local")

    elsewhere: ClassVar = {"source": "world.decorrelation_models", "local": "world.local.decorrelation_models"}


def main(
    parameters: BaseModelsParameters, context: Context, *, out: Path = Path("models/decorrelation/base")
) -> dict[str, float]:
    """Write a folder a model to --out.

    Source sample trains small ones, hub downloads the public models, local checks and takes those of your own folder.
    """
    source, local = parameters.source, parameters.local
    if source == "sample":
        return make_stand_ins(parameters, context, out)
    if source == "hub":
        from trivium.sources.decorrelation.models import fetch_models

        return fetch_models(parameters.models, out, context.downloads)
    if source == "local":
        from trivium.sources.decorrelation.models import check_models

        if not local:
            raise BadInput(
                "no folder given",
                field="world.local.decorrelation_models",
                expected="a folder laid out as models/decorrelation/base",
            )
        return check_models(parameters.models, Path(local), out)
    raise BadInput("no such source", field="world.decorrelation_models", got=source, choices=SOURCES)


if __name__ == "__main__":
    run_stage(
        main,
        "decorrelation.base_models",
        BaseModelsParameters,
        metrics="metrics/decorrelation/base_models.json",
        curves="metrics/decorrelation/curves/base_models.csv",
    )
