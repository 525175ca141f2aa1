"""From parameters to files: the stand-ins that decorrelation's models start from."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from sample.encoders.settings import StandIn
from sample.scene_models.settings import BlipStandIn, ClipStandIn, VseStandIn
from trivium.core.atomic import write_atomically
from trivium.core.errors import BadInput
from trivium.core.parameters import Parameters
from trivium.core.stage import Context
from trivium.core.tables import write_json
from trivium.sources.brought import PROVENANCE

if TYPE_CHECKING:
    from sample.scene_models.scene_pictures import ScenePictures

Model = Literal[
    "clip", "vse", "vsepp_coco", "vsepp_flickr30k", "blip", "captioner", "lama", "blip_itm_coco", "blip_itm_flickr"
]
_GROUPS = (("clip", "vse"), ("blip", "captioner"))  # stand-ins that are trained in one process, in this order


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
    from sample.scene_models.scene_pictures import draw_scenes

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
        for found, logged in context.engine.map(_make, orders, description="train", out=beside):
            losses |= found
            for step, values in logged:
                context.tracker.log(step, **values)
    return losses


def _make(order: _Order) -> tuple[dict[str, float], list[tuple[int, dict[str, float]]]]:
    """Make models; their losses, and what they log, which the stage's own process keeps."""
    import torch

    from sample.scene_models.scene_blip import write_blip, write_captioner
    from sample.scene_models.scene_clip import write_clip
    from sample.scene_models.scene_cnn import write_cnn

    torch.set_num_threads(1)  # another process has the other core, and threads of small networks wait more than compute
    parameters, losses = order.parameters, {}
    logged: list[tuple[int, dict[str, float]]] = []

    def log(step: int, **values: float) -> None:
        logged.append((step, values))

    writers: dict[str, Callable[..., float]] = {
        "clip": write_clip,
        "vse": write_cnn,
        "blip": write_blip,
        "captioner": partial(write_captioner, blip=order.folder / "blip"),
    }
    for model in order.models:
        folder = order.folder / model
        folder.mkdir(parents=True)
        own = getattr(parameters, model)
        losses[f"{model}_loss"] = writers[model](order.scenes, folder, own, seed=parameters.seed, log=log)
        origin = f"a small network of the architecture of {model}, trained on generated scenes"
        write_json(folder / PROVENANCE, {"from": origin, "licence": "apache-2.0"})
    return losses, logged


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
