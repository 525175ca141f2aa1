"""What the training of each kind of retrieval model is told (decorrelation.md §4); told apart by `kind`.

How large the networks are stands with the weights that they start from, in `models/decorrelation/base`.
"""

from typing import Annotated, Literal

from pydantic import Field

from trivium.decorrelation.models.training_settings import TrainingSettings


class ModelSettings(TrainingSettings):
    """What every kind is told."""

    base: str = Field(min_length=1, description="Folder of the weights to start from, in models/decorrelation/base")
    smallest_crop: float = Field(
        gt=0, le=1, description="Least share of a training picture's area that a random crop keeps, 1: no crops"
    )


class ClipSettings(ModelSettings):
    """CLIP: two towers, symmetric contrastive loss (Radford et al. 2021)."""

    kind: Literal["clip"] = Field(description="Architecture and loss")


class VseSettings(ModelSettings):
    """VSE++: CNN and GRU, hinge over the hardest negative (Faghri et al. 2018)."""

    kind: Literal["vse"] = Field(description="Architecture and loss")
    finetune_cnn: bool = Field(description="Train the CNN too, or only what stands on it")
    embedding_dimension: int = Field(ge=2, description="Size of an embedding")
    word_dimension: int = Field(ge=1, description="Size of a word's vector")
    minimum_count: int = Field(ge=1, description="Words that training captions hold fewer times are unknown words")
    margin: float = Field(gt=0, le=2, description="By how much the right pair's cosine must lead")
    warm_up: float = Field(
        ge=0, le=1, description="Share of the steps with the mean over negatives before the hardest counts alone"
    )


class BlipSettings(ModelSettings):
    """BLIP: contrastive with momentum encoders, and matching by a cross-encoder (Li et al. 2022)."""

    kind: Literal["blip"] = Field(description="Architecture and loss")
    queue: int = Field(ge=2, description="Momentum embeddings of earlier batches that are negatives too")
    momentum: float = Field(ge=0, lt=1, description="Share that the momentum encoders keep of themselves at each step")
    alpha: float = Field(ge=0, le=1, description="Weight of the momentum encoders' similarities in the targets")
    alpha_rises: float = Field(ge=0, le=1, description="Share of the steps in which that weight rises from 0")
    image_size: int = Field(
        ge=16, description="Side of the input in pixels; position embeddings are interpolated to it"
    )
    text_tokens: int = Field(ge=3, description="Longest text, in tokens; longer is cut")


AnyModelSettings = Annotated[ClipSettings | VseSettings | BlipSettings, Field(discriminator="kind")]
