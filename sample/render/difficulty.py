"""Difficulty of the photographs: the parameters of `kvqae.world.difficulty`."""

from pydantic import Field

from trivium.core.parameters import Parameters


class Difficulty(Parameters):
    """How much photographs may differ from the reference one, and how alike different entities are (0 = easiest)."""

    identity_spread: float = Field(
        gt=0, le=2, description="How different the faces of different people are; 1 = all traits free"
    )
    pose: float = Field(ge=0, le=1, description="Turning and tilting; 1 = heads turn by 35 degrees")
    crop: float = Field(ge=0, le=1, description="Change of distance and framing")
    light: float = Field(ge=0, le=1, description="Change of exposure, colour cast and shadows")
    noise: float = Field(ge=0, le=1, description="Sensor noise, blur and JPEG artefacts")
    occlusion: float = Field(
        ge=0, le=1, description="Share of the photographs in which something stands before the subject"
    )
    disguise: float = Field(
        ge=0, le=1, description="Probability that a person's hair, glasses, hat or beard differ from usual"
    )
    faceless: float = Field(ge=0, le=1, description="Share of a person's photographs without a visible face")
    company: float = Field(ge=0, le=1, description="Share of a person's photographs with a second, smaller face")


DifficultyParameters = Difficulty
