"""What the training of every kind of retrieval model is told (decorrelation.md §4); what one needs besides: `kinds/`.

How large the networks are stands with the weights that they start from, in `models/decorrelation/base`.
"""

from pydantic import Field

from trivium.decorrelation.models.training_settings import TrainingSettings


class ModelSettings(TrainingSettings):
    """What every kind is told."""

    base: str = Field(min_length=1, description="Folder of the weights to start from, in models/decorrelation/base")
    smallest_crop: float = Field(
        gt=0, le=1, description="Least share of a training picture's area that a random crop keeps, 1: no crops"
    )
