"""Stage `decorrelation-base_models`. Where models start: small stand-ins of the released ones, or those."""

from pathlib import Path

from sample.scene_models.settings import DecorrelationBaseModelsParameters
from trivium.core.parameters import own_folder
from trivium.core.stage import Context, stage


@stage("decorrelation.base_models", metrics="metrics/decorrelation/base_models.json", curves=True)
def main(
    parameters: DecorrelationBaseModelsParameters, context: Context, *, out: Path = Path("models/decorrelation/base")
) -> dict[str, float]:
    """Write a folder a model to --out."""
    if parameters.source == "sample":
        from sample.scene_models.scene_networks import make_stand_ins

        return make_stand_ins(parameters, context, out)
    from trivium.sources.decorrelation.models import check_models, fetch_models

    if parameters.source == "hub":
        return fetch_models(parameters.models, out, context.downloads)
    folder = own_folder(parameters.local, "world.local.decorrelation_models", "models/decorrelation/base")
    return check_models(parameters.models, folder, out)
