"""Stage `complexity-base_models`. Language models to start from: small ones made here, or the public ones."""

from pathlib import Path

from pydantic import Field

from sample.encoders.french import ComplexityBaseModelsParameters, make_stand_ins
from trivium.core.parameters import own_folder
from trivium.core.stage import Context, Source, run_stage


class SourcedBaseModelsParameters(ComplexityBaseModelsParameters):
    """Section `complexity.base_models`, with where they come from."""

    places = {"source": "world.complexity_models", "local": "world.local.complexity_models"}  # noqa: RUF012
    source: Source = Field(description="Where the models come from")
    local: str = Field(description="Folder of the user's models")


def main(
    parameters: SourcedBaseModelsParameters,
    context: Context,
    *,
    fquad: Path = Path("data/complexity/raw/fquad"),
    out: Path = Path("models/complexity/base"),
) -> dict[str, float]:
    """Write a Hugging Face folder a model to --out.

    The source sample makes small ones, hub downloads the public models, local checks and takes the user's.
    """
    if parameters.source == "sample":
        return make_stand_ins(parameters, fquad, out)
    if parameters.source == "hub":
        from trivium.sources.complexity.models import fetch_models

        return fetch_models(parameters.models, out, context.downloads)
    from trivium.sources.complexity.models import check_models

    folder = own_folder(parameters.local, "world.local.complexity_models", "models/complexity/base")
    return check_models(parameters.models, folder, out)


if __name__ == "__main__":
    run_stage(main, "complexity.base_models", metrics="metrics/complexity/base_models.json")
