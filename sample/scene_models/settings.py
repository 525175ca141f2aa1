"""Sizes and training of the stand-ins for released image-text models: section `decorrelation.base_models`."""

from typing import Annotated, Literal

from pydantic import Field

from sample.encoders.settings import ClipSizes, StandIn
from trivium.core.parameters import Parameters, shared
from trivium.core.stage import Source

Model = Literal[
    "clip", "vse", "vsepp_coco", "vsepp_flickr30k", "blip", "captioner", "lama", "blip_itm_coco", "blip_itm_flickr"
]


class SceneClip(ClipSizes):
    """The stand-in of CLIP."""

    tokens: int = Field(ge=4, description="Longest text, in tokens")


class SceneCnn(StandIn):
    """The CNN that VSE++ starts from."""

    channels: tuple[Annotated[int, Field(ge=1)] | Literal["M"], ...] = Field(
        min_length=1, description="Channels of the convolutions; M pools 2x2"
    )
    grid: int = Field(ge=1, description="Side of the map before the fully connected layers (VGG: 7)")
    hidden: int = Field(ge=1, description="Width of the fully connected layers (VGG: 4096)")


class SceneBlip(StandIn):
    """The stand-in of BLIP; the captioner has its image tower."""

    patch: int = Field(ge=1, description="Side of a patch in pixels, a divisor of `picture_size`")
    width: int = Field(ge=32, multiple_of=32, description="Width of both towers")
    layers: int = Field(ge=1, description="Layers of both towers")
    dimension: int = Field(ge=2, description="Size of an embedding")
    taught_steps: int = Field(ge=1, description="Steps before BLIP's own, on the kinds that patches show")


class DecorrelationBaseModelsParameters(Parameters):
    """Section `decorrelation.base_models`; `hub` and `local` read `models` only."""

    models: tuple[Model, ...] = Field(min_length=1, description="Which models to make, download or take")
    seed: int = Field(ge=0, description="Seed of the stand-ins' weights and of the scenes they are trained on")
    picture_size: int = Field(ge=32, le=256, description="Side of these scenes in pixels, as in the world")
    scenes: int = Field(ge=1, description="Number of scenes; none of them is in the world")
    co_occurrence: float = Field(ge=0, le=1, description="As in the world: the web's pictures have it too")
    mention: float = Field(gt=0, le=1, description="As in the world")
    usual_colour: float = Field(ge=0, le=1, description="As in the world")
    clip: SceneClip = Field(description="CLIP")
    vse: SceneCnn = Field(description="The CNN of VSE++")
    blip: SceneBlip = Field(description="BLIP")
    captioner: StandIn = Field(description="BLIP's captioner")
    source: Source = shared("world.decorrelation_models", default="sample", description="Where the models come from")
    local: str = shared("world.local.decorrelation_models", default="", description="Folder of your own models")
