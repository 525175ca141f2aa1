"""VSE++: CNN and GRU, hinge over the hardest negative (Faghri et al. 2018)."""

from pathlib import Path

from pydantic import Field

from trivium.decorrelation.models.kind import Kind, ModelSettings

VOCABULARY = "vocabulary.json"  # in a saved model


class VseSettings(ModelSettings):
    """Settings beside those of every kind."""

    frozen: float = Field(ge=0, le=1, description="Share of the steps before the CNN is trained too; 1: it never is")
    dropout: float = Field(ge=0, lt=1, description="Of the CNN's features in training, as VGG's last layer but one")
    embedding_dimension: int = Field(ge=2, description="Size of an embedding")
    word_dimension: int = Field(ge=1, description="Size of a word's vector")
    minimum_count: int = Field(ge=1, description="Words that training captions hold fewer times are unknown words")
    margin: float = Field(gt=0, le=2, description="By how much the right pair's cosine must lead")
    dropout_ends: int | None = Field(
        ge=1, description="No dropout in an epoch after a step whose number this divides, null: always dropout"
    )
    warm_up: float = Field(
        ge=0, le=1, description="Share of the steps with the mean over negatives before the hardest counts alone"
    )


class Vse(Kind):
    """VSE++, started from a saved model, such as its authors' checkpoint, or from a trained CNN alone."""

    name = "vse"
    label = "VSE++"
    Settings = VseSettings
    teraflop = 0.02  # VGG19
    network = ("trivium.decorrelation.models.vse", "Vse")

    @classmethod
    def is_whole(cls, base: Path) -> bool:
        """Whether a text tower is there too."""
        return (base / VOCABULARY).is_file()
