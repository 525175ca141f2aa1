"""Stage `kvqae-base_models`. Frozen encoders and text start weights: stand-ins trained here, or the public ones."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pydantic import Field

from sample.encoders.known import choose_known, persons_of
from sample.kvqae.entities import Entity
from sample.render.difficulty import Difficulty
from trivium.files.atomic import write_atomically
from trivium.harness.stage import BadInput, Context, Parameters, run_stage
from trivium.kvqae.rerankers.overlap_lists import IDENTITIES, write_entities
from trivium.sources.kvqae.base_models import ArcFaceStandIn, ClipStandIn, ImageNetStandIn

SOURCES = ("sample", "hub", "local")


class TextStandIn(Parameters):
    """The text encoder of the sample: real weights, fewer layers."""

    layers: tuple[Annotated[int, Field(ge=0, le=5)], ...] = Field(
        min_length=1, description="Layers of all-MiniLM-L6-v2 that are kept, from 0; the last gathers [CLS]"
    )


class BaseModelsParameters(Parameters):
    """The sample's stand-ins; `hub` and `local` read none of it."""

    seed: int = Field(ge=0, description="Seed of weights and of the order of the pictures")
    picture_size: int = Field(ge=64, le=1024, description="Side of the photographs drawn for training, as in the world")
    difficulty: Difficulty = Field(description="How far the training photographs differ")
    text: TextStandIn = Field(description="The text encoder")
    arcface: ArcFaceStandIn = Field(description="The face encoder")
    clip: ClipStandIn = Field(description="CLIP")
    imagenet: ImageNetStandIn = Field(description="The ImageNet ResNet")


def make_stand_ins(
    parameters: BaseModelsParameters, context: Context, out: Path, persons: Sequence[Entity]
) -> dict[str, float]:
    """Train and write the sample's stand-ins, in the formats of the real encoders, and ArcFace's overlap list.

    Args:
        parameters, context: of the stage.
        out: the folder; complete or absent.
        persons: of the knowledge base, a share of whom ArcFace is trained on.

    Returns:
        Each training's loss at its end, the layers of the text encoder, and how many persons ArcFace knows.

    Raises:
        BadInput: that share is more people than ArcFace's identities.
    """
    from sample.encoders.stand_ins import photograph_things, write_arcface, write_clip, write_imagenet
    from sample.encoders.text import save_text

    own = parameters.arcface
    known = choose_known(persons, own.overlap, parameters.seed)
    if len(known) > own.identities:
        raise BadInput(
            f"{len(known)} of {len(persons)} persons do not fit among {own.identities} identities",
            field="kvqae.base_models.arcface.overlap",
            got=own.overlap,
            expected="a smaller share or more identities",
        )
    with write_atomically(out) as beside:
        write_entities(beside / IDENTITIES, known, "persons of the knowledge base whom ArcFace was trained on")
        losses = {"arcface_loss": write_arcface(parameters, context, beside / "arcface", list(known.values()))}
        things = photograph_things(parameters, context)
        losses["clip_loss"] = write_clip(things, parameters, context, beside / "clip")
        losses["imagenet_loss"] = write_imagenet(things, parameters, context, beside / "imagenet")
        return losses | {
            "arcface_known_persons": float(len(known)),
            "text_layers": save_text(beside / "text", layers=parameters.text.layers),
        }


def main(
    parameters: BaseModelsParameters,
    context: Context,
    *,
    source: str,
    world_seed: int,
    world_articles: int,
    world_imageless: int,
    out: Path,
    local: str = "",
) -> dict[str, float]:
    """Write `text/`, `arcface/`, `clip/`, `imagenet/` and `overlap/` to --out.

    --source sample trains stand-ins for the world that the three numbers of section `kvqae.world` make; hub downloads
    the public models; local checks and takes those of --local. The overlap list of hub and local is
    `overlap/identities.txt` in --local, if there is one.
    """
    if source == "sample":
        persons = persons_of(world_seed, articles=world_articles, imageless=world_imageless)
        return make_stand_ins(parameters, context, out, persons)
    if source == "hub":
        from trivium.sources.kvqae.hub import fetch_base_models

        return fetch_base_models(out, context.downloads, brought=Path(local) if local else None)
    if source == "local":
        from trivium.sources.kvqae.local import check_base_models

        if not local:
            raise BadInput("no folder given", field="--local", expected="a folder laid out as models/kvqae/base")
        return check_base_models(Path(local), out)
    raise BadInput("no such source", field="world.kvqae", got=source, choices=SOURCES)


if __name__ == "__main__":
    run_stage(main, "kvqae.base_models", BaseModelsParameters)
