"""Stage `kvqae-base_models`. Train stand-ins for frozen encoders and BERT's weights, or take the public ones."""

from pathlib import Path

from sample.encoders.settings import BaseModelsParameters
from sample.encoders.stand_ins import make_stand_ins
from sample.kvqae.entity_world import pictured
from trivium.core.parameters import own_folder
from trivium.core.stage import Context, Source, stage


@stage("kvqae.base_models", metrics="metrics/kvqae/base_models.json", curves=True)
def main(
    parameters: BaseModelsParameters,
    context: Context,
    *,
    source: Source,
    world_seed: int,
    world_articles: int,
    world_imageless: int,
    out: Path = Path("models/kvqae/base"),
) -> dict[str, float]:
    """Write `text/`, `arcface/`, `clip/`, `imagenet/` and `overlap/` to --out.

    --source sample trains stand-ins for the world that the three numbers of section `kvqae.world` make; hub downloads
    the public models; local checks and takes those of the user's folder. The overlap list of hub and local is
    `overlap/identities.txt` in that folder, if there is one.
    """
    if source == "sample":
        persons = pictured(world_seed, articles=world_articles, imageless=world_imageless, persons=True)
        return make_stand_ins(parameters, context, out, persons)
    from trivium.sources.kvqae.models import check_base_models, fetch_base_models

    if source == "hub":
        return fetch_base_models(out, context.downloads, brought=Path(parameters.local) if parameters.local else None)
    return check_base_models(own_folder(parameters.local, "world.local.kvqae_models", "models/kvqae/base"), out)
