"""BLIP: contrastive with momentum encoders, and matching by a cross-encoder (Li et al. 2022)."""

from pydantic import Field

from trivium.decorrelation.models.kind import Kind, ModelSettings


class BlipSettings(ModelSettings):
    """Settings beside those of every kind."""

    queue: int = Field(ge=2, description="Momentum embeddings of earlier batches that are negatives too")
    momentum: float = Field(ge=0, lt=1, description="Share that the momentum encoders keep of themselves at each step")
    alpha: float = Field(ge=0, le=1, description="Weight of the momentum encoders' similarities in the targets")
    alpha_rises: float = Field(ge=0, le=1, description="Share of the steps in which that weight rises from 0")
    image_size: int = Field(
        ge=16, description="Side of the input in pixels; position embeddings are interpolated to it"
    )
    text_tokens: int = Field(ge=3, description="Longest text, in tokens; longer is cut")
    pre_caption: bool = Field(description="Captions as in BLIP's code, also in retrieval: lower case, no punctuation")
    random_augment: bool = Field(description="RandomAugment(2, 5) of training pictures, where they are cropped")


class Blip(Kind):
    """BLIP, by transformers."""

    name = "blip"
    label = "BLIP"
    Settings = BlipSettings
    teraflop = 0.11  # ViT-B at 384 pixels
    network = ("trivium.decorrelation.models.blip", "Blip")
