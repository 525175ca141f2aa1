"""Stage `complexity-base_models`. Language models to start from: small ones made here, or the public ones."""

from pathlib import Path

from pydantic import Field

from sample.encoders.french import make_stand_ins
from sample.encoders.french_settings import ComplexityBaseModelsParameters
from trivium.core.errors import BadInput
from trivium.core.stage import Context, run_stage

SOURCES = ("sample", "hub", "local")


class SourcedBaseModelsParameters(ComplexityBaseModelsParameters):
    """Section `complexity.base_models`, with where they come from."""

    elsewhere = {"source": "world.complexity_models", "local": "world.local.complexity_models"}  # noqa: RUF012
    source: str = Field(description="sample, hub or local")
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
    if parameters.source == "local":
        from trivium.sources.complexity.models import check_models

        if not parameters.local:
            raise BadInput(
                "no folder given",
                field="world.local.complexity_models",
                expected="a folder laid out as models/complexity/base",
            )
        return check_models(parameters.models, Path(parameters.local), out)
    raise BadInput("no such source", field="world.complexity_models", got=parameters.source, choices=SOURCES)


if __name__ == "__main__":
    run_stage(
        main, "complexity.base_models", SourcedBaseModelsParameters, metrics="metrics/complexity/base_models.json"
    )
