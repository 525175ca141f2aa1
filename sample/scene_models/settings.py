"""How the stand-ins for released image-text models are sized and trained."""

from typing import Annotated, Literal

from pydantic import Field

from sample.encoders.settings import StandIn


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
