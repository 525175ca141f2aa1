"""Base models: the frozen encoders that KVQAE starts from, made here, downloaded, or brought by the user."""

from pydantic import Field

from trivium.harness.stage import Parameters


class Training(Parameters):
    """How one stand-in is trained."""

    identities: int = Field(ge=2, description="Entities in the training pictures")
    views: int = Field(ge=1, description="Training pictures of each entity")
    steps: int = Field(ge=1, description="Training steps")
    batch: int = Field(ge=2, description="Pictures a step")
    learning_rate: float = Field(gt=0, description="Highest learning rate of the cycle")


class ArcFaceStandIn(Training):
    """The face encoder of the sample."""

    overlap: float = Field(
        ge=0, le=1, description="Share of the knowledge base's persons who are among the identities; all others are not"
    )
    dimension: int = Field(ge=2, description="Size of an embedding")
    width: int = Field(ge=1, description="Channels of the first convolution; doubled twice")
    scale: float = Field(gt=0, description="s of ArcFace's loss")
    margin: float = Field(ge=0, le=1, description="m of ArcFace's loss, in radians")
    landmark_noise: float = Field(ge=0, description="Standard deviation of the landmarks' error in training, in pixels")


class ClipStandIn(Training):
    """The CLIP of the sample."""

    dimension: int = Field(ge=2, description="Size of an embedding")
    width: int = Field(ge=2, multiple_of=2, description="Width of the image tower's ResNet (RN50 has 64)")
    size: int = Field(ge=32, multiple_of=32, description="Side of the image tower's input, in pixels")


class ImageNetStandIn(Training):
    """The ImageNet ResNet of the sample."""

    architecture: str = Field(description="Name of a torchvision ResNet")
    size: int = Field(ge=32, description="Side of the network's input, in pixels")
