"""Interface of frozen image encoders, before and after they are loaded (kvqae.md §3)."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from trivium.core.parameters import Parameters

if TYPE_CHECKING:  # takes seconds to import, and only encoding needs it
    import torch

CPU_BATCH = 8
"""Batch size on a CPU. Products of other shapes round differently, and a vector must not depend on the other inputs of
its batch, so the last batch is filled up with zeros."""


class Embedder(ABC):
    """The loaded network of an encoder.

    Attributes:
        path: where it was loaded from, for messages.
        dimension: size of an embedding.
    """

    path: Path
    dimension: int

    @abstractmethod
    def prepare(self, images: Sequence[Any]) -> Any:
        """Convert aligned crops of faces, or RGB pictures (see `Route`), to the network's input."""

    @abstractmethod
    def embed(self, prepared: Any) -> NDArray[np.float32]:
        """Embed what `prepare` gave; returns (n, dimension), each of length 1."""

    def __call__(self, images: Sequence[Any]) -> NDArray[np.float32]:
        """Prepare and embed; returns (n, dimension), each of length 1."""
        return self.embed(self.prepare(images))


Probability = Annotated[float, Field(ge=0, le=1)]
Route = Literal["face", "whole"]  # the most probable face of a picture, or the whole picture


class EncoderParameters(Parameters):
    """An entry of `kvqae.image_encoders`."""

    model: Path = Field(description="The folder with its weights: models/kvqae/base/<name>, or another like it")


class FaceEncoderParameters(EncoderParameters):
    """Entry of an encoder of faces, with the settings of MTCNN."""

    min_side: int = Field(default=20, ge=1, description="Images with a shorter side, in pixels, are not searched")
    min_face: int = Field(ge=12, description="MTCNN: smallest face, in pixels")
    thresholds: tuple[Probability, Probability, Probability] = Field(
        description="MTCNN: probabilities that its three networks ask for"
    )
    factor: float = Field(gt=0, lt=1, description="MTCNN: ratio of two steps of the image pyramid")

    @model_validator(mode="after")
    def _pyramid_has_a_level(self) -> Self:
        if self.min_side < self.min_face:
            raise ValueError(f"min_side {self.min_side} must not be less than min_face {self.min_face}")
        return self


class ImageEncoder(ABC):
    """A frozen image encoder; its module imports nothing that takes seconds before `load`.

    Attributes:
        name: name of its module, of its entry in `kvqae.image_encoders`, and of its runs and weights.
        label: name in tables.
        symbol: symbol in the formulae of the tables' rows.
        route: whether it encodes faces or whole pictures.
        files: names of files that its folder must have.
        Parameters: model of its entry in `kvqae.image_encoders`; `FaceEncoderParameters` for faces.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    symbol: ClassVar[str]
    route: ClassVar[Route]
    files: ClassVar[tuple[str, ...]]
    Parameters: ClassVar[type[EncoderParameters]] = EncoderParameters

    @staticmethod
    @abstractmethod
    def load(folder: Path, device: "torch.device") -> Embedder:
        """Load the network from its folder.

        Raises:
            BadInput: a file is not there, is of another format, or its weights do not fit its configuration.
        """
