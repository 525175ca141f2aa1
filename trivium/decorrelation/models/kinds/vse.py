"""VSE++: CNN and GRU, hinge over the hardest negative (Faghri et al. 2018)."""

from typing import ClassVar

from pydantic import Field

from trivium.decorrelation.models.kind import Kind, ModelSettings


class VseSettings(ModelSettings):
    """Beside what every kind is told."""

    finetune_cnn: bool = Field(description="Train the CNN too, or only what stands on it")
    dropout: float = Field(ge=0, lt=1, description="Of the CNN's features in training, as VGG's last layer but one")
    embedding_dimension: int = Field(ge=2, description="Size of an embedding")
    word_dimension: int = Field(ge=1, description="Size of a word's vector")
    minimum_count: int = Field(ge=1, description="Words that training captions hold fewer times are unknown words")
    margin: float = Field(gt=0, le=2, description="By how much the right pair's cosine must lead")
    warm_up: float = Field(
        ge=0, le=1, description="Share of the steps with the mean over negatives before the hardest counts alone"
    )


class Vse(Kind):
    """Not released: it starts from a trained CNN, and its text encoder from nothing."""

    name = "vse"
    label = "VSE++"
    Settings = VseSettings
    teraflop = 0.02  # VGG19
    network = ("trivium.decorrelation.models.vse", "Vse")
    released = False
    tiny: ClassVar = {
        "finetune_cnn": True,
        "dropout": 0.5,
        "embedding_dimension": 6,
        "word_dimension": 5,
        "minimum_count": 1,
        "margin": 0.2,
        "warm_up": 0.5,
    }
