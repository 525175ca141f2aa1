"""Sizes and training of the sample's stand-ins: section `kvqae.base_models`, and what other sections share."""

from typing import Annotated, ClassVar

from pydantic import Field

from sample.render.photo import Difficulty
from trivium.core.parameters import Parameters


class StandIn(Parameters):
    """How one stand-in is trained."""

    steps: int = Field(ge=1, description="Training steps")
    batch: int = Field(ge=2, description="Pictures a step")
    learning_rate: float = Field(gt=0, description="Highest learning rate of the cycle")


class ClipSizes(StandIn):
    """Training and sizes of a CLIP."""

    dimension: int = Field(default=128, ge=2, description="Size of an embedding")
    width: int = Field(default=16, ge=2, multiple_of=2, description="Width of the image tower's ResNet (RN50 has 64)")


class Training(StandIn):
    """How a stand-in is trained on pictures of entities."""

    identities: int = Field(ge=2, description="Entities in the training pictures")
    views: int = Field(ge=1, description="Training pictures of each entity")


class ArcFaceStandIn(Training):
    """The face encoder of KVQAE."""

    overlap: float = Field(
        ge=0, le=1, description="Share of the knowledge base's persons who are among the identities; all others are not"
    )
    dimension: int = Field(default=128, ge=2, description="Size of an embedding")
    width: int = Field(default=24, ge=1, description="Channels of the first convolution; doubled twice")


class ClipStandIn(Training, ClipSizes):
    """The CLIP of KVQAE."""

    size: int = Field(ge=32, multiple_of=32, description="Side of the image tower's input, in pixels")


class ImageNetStandIn(Training):
    """The ImageNet ResNet of KVQAE."""

    size: int = Field(ge=32, description="Side of the network's input, in pixels")


class TextStandIn(Parameters):
    """The text encoder of KVQAE: pretrained weights, fewer layers."""

    layers: tuple[Annotated[int, Field(ge=0, le=5)], ...] = Field(
        min_length=1, description="Layers of all-MiniLM-L6-v2 that are kept, from 0; the last gathers [CLS]"
    )


class BaseModelsParameters(Parameters):
    """The sample's stand-ins; `hub` and `local` read only `local`."""

    places: ClassVar = {"local": "world.local.kvqae_models", "picture_size": "kvqae.sample.picture_size"}
    local: str = Field(default="", description="Folder of your own models, which source local reads")
    seed: int = Field(default=0, ge=0, description="Seed of weights and of the order of the pictures")
    picture_size: int = Field(ge=64, le=1024, description="Side of the photographs drawn for training, as in the world")
    difficulty: Difficulty = Field(
        default=Difficulty(
            identity_spread=1.5, pose=0.4, crop=0.5, light=0.35, noise=0.35, occlusion=0.08, disguise=0.12,
            faceless=0.06, company=0.06,
        ),
        description="How far the training photographs differ",
    )  # fmt: skip
    text: TextStandIn = Field(description="The text encoder")
    arcface: ArcFaceStandIn = Field(description="The face encoder")
    clip: ClipStandIn = Field(description="CLIP")
    imagenet: ImageNetStandIn = Field(description="The ImageNet ResNet")
