"""Where the retrieval models, the captioner and the in-painter start (decorrelation.md §4, §6)."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from stages.atomic import write_atomically
from stages.stage import BadInput, Context, Parameters, run_stage
from stages.tables import write_json
from stages.tracking import Tracker

if TYPE_CHECKING:
    from stages.world.sample.scene_models.pictures import ScenePictures

SOURCES = ("sample", "hub", "local")
PROVENANCE = "provenance.json"  # in each model's folder: where it is from and its licence
Model = Literal["clip", "vse", "blip", "captioner", "lama", "blip_itm_coco", "blip_itm_flickr"]
_GROUPS = (("clip", "vse"), ("blip", "captioner"))  # stand-ins that are trained in one process, in this order


class StandIn(Parameters):
    """How one stand-in is trained."""

    steps: int = Field(ge=1, description="Training steps")
    batch: int = Field(ge=2, description="Pictures a step")
    learning_rate: float = Field(gt=0, description="Highest learning rate of the cycle")


class ClipStandIn(StandIn):
    """CLIP's."""

    width: int = Field(ge=2, multiple_of=2, description="Width of the image tower's ResNet (RN50 has 64)")
    dimension: int = Field(ge=2, description="Size of an embedding")
    tokens: int = Field(ge=4, description="Longest text, in tokens")


class VseStandIn(StandIn):
    """The CNN that VSE++ starts from."""

    channels: tuple[Annotated[int, Field(ge=1)] | Literal["M"], ...] = Field(
        min_length=1, description="Of the convolutions; M pools 2x2"
    )
    grid: int = Field(ge=1, description="Side of the map before the fully connected layers (VGG: 7)")
    hidden: int = Field(ge=1, description="Width of the fully connected layers (VGG: 4096)")


class BlipStandIn(StandIn):
    """BLIP's; the captioner has its image tower."""

    patch: int = Field(ge=1, description="Side of a patch in pixels, a divisor of `picture_size`")
    width: int = Field(ge=32, multiple_of=32, description="Width of both towers")
    layers: int = Field(ge=1, description="Layers of both towers")
    dimension: int = Field(ge=2, description="Size of an embedding")
    taught_steps: int = Field(ge=1, description="Steps in which the image tower learns what its patches show, before")


class DecorrelationBaseModelsParameters(Parameters):
    """Section `decorrelation.base_models`; `hub` and `local` read `models` only."""

    models: tuple[Model, ...] = Field(min_length=1, description="Which models to make, download or take")
    seed: int = Field(ge=0, description="Seed of the stand-ins' weights and of the scenes they are trained on")
    picture_size: int = Field(ge=32, le=256, description="Side of these scenes in pixels, as in the world")
    scenes: int = Field(ge=1, description="How many; none of them is in the world")
    co_occurrence: float = Field(ge=0, le=1, description="As in the world: the web's pictures have it too")
    mention: float = Field(gt=0, le=1, description="As in the world")
    usual_colour: float = Field(ge=0, le=1, description="As in the world")
    clip: ClipStandIn = Field(description="CLIP")
    vse: VseStandIn = Field(description="The CNN of VSE++")
    blip: BlipStandIn = Field(description="BLIP")
    captioner: StandIn = Field(description="BLIP's captioner")


@dataclass(frozen=True)
class _Order:
    """Models that one process makes, one after the other."""

    models: tuple[Model, ...]
    parameters: DecorrelationBaseModelsParameters
    scenes: "ScenePictures"
    folder: Path


def make_stand_ins(parameters: DecorrelationBaseModelsParameters, context: Context, out: Path) -> dict[str, float]:
    """Train and write the sample's models, in the formats of the real ones, some of them side by side.

    Returns:
        `<model>_loss` at the end of each training.

    Raises:
        BadInput: a model that has no stand-in, or the captioner without BLIP.
    """
    from stages.world.sample.scene_models.pictures import draw_scenes

    _check_sample(parameters)
    scenes = draw_scenes(
        context.engine, scenes=parameters.scenes, seed=parameters.seed, size=parameters.picture_size,
        cell=parameters.blip.patch, co_occurrence=parameters.co_occurrence, mention=parameters.mention,
        colour=parameters.usual_colour,
    )  # fmt: skip
    groups = [tuple(model for model in group if model in parameters.models) for group in _GROUPS]
    with write_atomically(out) as beside:
        orders = [_Order(group, parameters, scenes, beside) for group in groups if group]
        losses: dict[str, float] = {}
        for found in context.engine.map(_make, orders, description="train"):
            losses |= found
    return losses


def _make(order: _Order) -> dict[str, float]:
    import torch

    from stages.world.sample.scene_models.blip import write_blip, write_captioner
    from stages.world.sample.scene_models.clip import write_clip
    from stages.world.sample.scene_models.cnn import write_cnn

    torch.set_num_threads(1)  # another process has the other core, and threads of small networks wait more than compute
    parameters, losses = order.parameters, {}
    for model in order.models:
        folder = order.folder / model
        folder.mkdir(parents=True)
        settings = getattr(parameters, model).model_dump() | {"seed": parameters.seed, "tracker": Tracker()}
        if model == "clip":
            loss = write_clip(order.scenes, folder, **settings)
        elif model == "vse":
            loss = write_cnn(order.scenes, folder, **settings)
        elif model == "blip":
            loss = write_blip(order.scenes, folder, **settings)
        else:
            loss = write_captioner(order.scenes, folder, blip=order.folder / "blip", **settings)
        losses[f"{model}_loss"] = loss
        origin = f"a small network of the architecture of {model}, trained on generated scenes"
        write_json(folder / PROVENANCE, {"from": origin, "licence": "apache-2.0"})
    return losses


def _check_sample(parameters: DecorrelationBaseModelsParameters) -> None:
    made = [model for group in _GROUPS for model in group]
    for model in parameters.models:
        if model not in made:
            raise BadInput("no stand-in of this model; hub and local have it", field="models", got=model, choices=made)
    if "captioner" in parameters.models and "blip" not in parameters.models:
        raise BadInput("the captioner's stand-in begins with BLIP's image tower", field="models",
                       got=parameters.models, expected="blip too")  # fmt: skip
    if parameters.picture_size % parameters.blip.patch:
        raise BadInput("not a divisor of picture_size", field="blip.patch", got=parameters.blip.patch)


def main(
    parameters: DecorrelationBaseModelsParameters, context: Context, *, source: str, out: Path, local: str = ""
) -> dict[str, float]:
    """Write a folder a model to --out.

    --source sample trains small ones, hub downloads the public models, local checks and takes those of --local.
    """
    if source == "sample":
        return make_stand_ins(parameters, context, out)
    if source == "hub":
        from stages.world.decorrelation_public_models import fetch_models

        return fetch_models(parameters.models, out, context.downloads)
    if source == "local":
        from stages.world.decorrelation_public_models import check_models

        if not local:
            raise BadInput(
                "no folder given", field="--local", expected="a folder laid out as models/decorrelation/base"
            )
        return check_models(parameters.models, Path(local), out)
    raise BadInput("no such source", field="world.decorrelation_models", got=source, choices=SOURCES)


if __name__ == "__main__":
    run_stage(main, "decorrelation.base_models", DecorrelationBaseModelsParameters)
