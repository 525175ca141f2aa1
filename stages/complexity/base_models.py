"""Stage `complexity-base_models`. Language models to start from: small ones made here, or the public ones."""

from pathlib import Path

from sample.encoders.french import ComplexityBaseModelsParameters, make_stand_ins
from trivium.core.parameters import own_folder
from trivium.core.stage import Context, stage


@stage("complexity.base_models", metrics="metrics/complexity/base_models.json")
def main(
    parameters: ComplexityBaseModelsParameters,
    context: Context,
    *,
    fquad: Path = Path("data/complexity/raw/fquad"),
    out: Path = Path("models/complexity/base"),
) -> dict[str, float]:
    """Write a Hugging Face folder a model to --out."""
    if parameters.source == "sample":
        return make_stand_ins(parameters, fquad, out)
    from trivium.sources.complexity.models import check_models, fetch_models

    if parameters.source == "hub":
        return fetch_models(parameters.models, out, context.downloads)
    folder = own_folder(parameters.local, "world.local.complexity_models", "models/complexity/base")
    return check_models(parameters.models, folder, out)
