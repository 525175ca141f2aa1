"""Stage `complexity-base_models`. Language models to start from: small ones made here, or the public ones."""

from pathlib import Path

from sample.encoders.french_stand_ins import ComplexityBaseModelsParameters, make_stand_ins
from trivium.errors import BadInput
from trivium.harness.stage import Context, run_stage

SOURCES = ("sample", "hub", "local")


def main(
    parameters: ComplexityBaseModelsParameters,
    context: Context,
    *,
    fquad: Path,
    source: str,
    out: Path,
    local: str = "",
) -> dict[str, float]:
    """Write a Hugging Face folder a model to --out.

    --source sample makes small ones, hub downloads the public models, local checks and takes those of --local.
    """
    if source == "sample":
        return make_stand_ins(parameters, fquad, out)
    if source == "hub":
        from trivium.sources.complexity.models import fetch_models

        return fetch_models(parameters.models, out, context.downloads)
    if source == "local":
        from trivium.sources.complexity.models import check_models

        if not local:
            raise BadInput("no folder given", field="--local", expected="a folder laid out as models/complexity/base")
        return check_models(parameters.models, Path(local), out)
    raise BadInput("no such source", field="world.complexity_models", got=source, choices=SOURCES)


if __name__ == "__main__":
    run_stage(main, "complexity.base_models", ComplexityBaseModelsParameters)
