"""What a base was told: section `kb` of its `params.yaml`, which `trivium kb` writes."""

from pathlib import Path
from typing import Any

from pydantic import Field

from trivium.core.parameters import Parameters


class NamedEncoder(Parameters):
    """An encoder of the base.

    The registries' members are known by their names; any other model is known by what `trivium odmap` calls it.
    """

    registered: bool = Field(description="A member of the registries; else a model as `trivium odmap` names it")
    model: str = Field(min_length=1, description="Its folder, or kind and name such as open_clip:ViT-B-32/openai")
    settings: dict[str, Any] = Field(default={}, description="Of the registry's member, besides its folder")
    weight: float = Field(gt=0, description="In the sum of pictures' or texts' scores; only proportions matter")


class BaseSettings(Parameters):
    """Section `kb`."""

    version: int = Field(description="Of the code that makes bases: a base of another version is made again")
    source: Path = Field(description="The folder, or the table, that the base is made of")
    words: int = Field(default=100, ge=8, le=400, description="Most tokens of a passage; the title is not counted")
    text_tokens: int = Field(default=256, ge=16, le=512, description="Tokens of a text that an encoder reads")
    image_encoders: dict[str, NamedEncoder] = Field(min_length=1, description="Encoders of pictures, by name")
    text_encoders: dict[str, NamedEncoder] = Field(default={}, description="Encoders of texts, by name, beside BM25")
    bm25_weight: float = Field(default=1.0, ge=0, description="As the text encoders' weights; 0: BM25 has no say")
    k1: float = Field(default=0.9, ge=0, description="BM25's saturation")
    b: float = Field(default=0.4, ge=0, le=1, description="BM25's normalisation by length")
    picture_share: float = Field(default=0.6, gt=0, lt=1, description="Of the picture in a passage's score")
    reader: str | None = Field(default=None, description="Folder of a reader; null: named when a question is asked")
    reader_tokens: int = Field(default=256, ge=16, le=512, description="Tokens of question and passage, read together")
    answer_tokens: int = Field(default=10, ge=1, description="Longest answer")
    passages: int = Field(default=5, ge=1, description="Passages that the reader reads")
    max_side: int = Field(default=1024, ge=32, description="Longer side of a decoded picture; larger ones are reduced")
    max_pixels: int = Field(default=100_000_000, ge=1, description="Pictures with more are not decoded")
    false_accepts: float = Field(default=0.05, gt=0, lt=1, description="Of pictures of things outside the base")
    invented: bool = Field(default=False, description="Models of the sample's invented world: every answer says so")
