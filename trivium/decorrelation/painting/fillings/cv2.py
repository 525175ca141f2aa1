"""OpenCV's in-painting, which has no weights: what the sample uses, through lama-cleaner as LaMa."""

from collections.abc import Iterator, Sequence
from typing import Literal

from pydantic import Field

from trivium.decorrelation.painting.filling import Filling, Settings
from trivium.decorrelation.painting.inpainter import Inpainter
from trivium.formats.masks import Mask, Pixels

_FLAGS = {"telea": "INPAINT_TELEA", "navier_stokes": "INPAINT_NS"}


class Cv2Settings(Settings):
    """Settings of OpenCV's `inpaint`."""

    method: Literal["telea", "navier_stokes"] = Field(default="telea", description="OpenCV's algorithm")
    radius: int = Field(default=4, ge=1, description="Pixels around a point that its colour comes from")


class Cv2(Filling[Cv2Settings]):
    """OpenCV's in-painting by one worker a process, kept from shard to shard."""

    name = "cv2"
    label = "OpenCV (cv2)"
    inpaints = True
    core_seconds = 0.08
    Settings = Cv2Settings

    def __init__(self, settings: Cv2Settings, weights: None = None) -> None:
        super().__init__(settings)
        self._worker = Inpainter(["cv2", "--flag", _FLAGS[settings.method], "--radius", str(settings.radius)])

    def paint(self, pictures: Sequence[tuple[Pixels, Mask]]) -> Iterator[Pixels]:
        """Fill each mask from the pixels around it."""
        return self._worker.paint(pictures)
