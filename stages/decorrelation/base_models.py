"""Stage `decorrelation-base_models`. Where models start: small stand-ins of the released ones, or those."""

from pathlib import Path
from typing import ClassVar

from pydantic import Field

from sample.scene_models.settings import DecorrelationBaseModelsParameters
from sample.scene_models.stand_ins import make_stand_ins
from trivium.core.parameters import own_folder
from trivium.core.stage import Context, Source, run_stage


class BaseModelsParameters(DecorrelationBaseModelsParameters):
    """Section `decorrelation.base_models`, and where the models come from."""

    source: Source = Field(default="sample", description="Where the models come from")
    local: str = Field(default="", description="Folder of your own models, for source local")

    places: ClassVar = {"source": "world.decorrelation_models", "local": "world.local.decorrelation_models"}


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
    from trivium.sources.decorrelation.models import check_models

    folder = own_folder(local, "world.local.decorrelation_models", "models/decorrelation/base")
    return check_models(parameters.models, folder, out)


if __name__ == "__main__":
    run_stage(main, "decorrelation.base_models", metrics="metrics/decorrelation/base_models.json", curves=True)
