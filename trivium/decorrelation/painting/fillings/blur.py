"""The picture under a Gaussian, a baseline of the paper: the object is unrecognisable, its colour stays."""

from collections.abc import Sequence

import cv2
import numpy as np
from pydantic import Field

from trivium.decorrelation.painting.filling import Filling, Settings
from trivium.formats.masks import Mask, Pixels


class BlurSettings(Settings):
    """Settings of the Gaussian."""

    sigma: float = Field(default=0.05, gt=0, le=1, description="Standard deviation, a share of the longer side")


class Blur(Filling[BlurSettings]):
    """A Gaussian over the whole picture."""

    name = "blur"
    label = "a blur"
    Settings = BlurSettings

    def paint(self, pictures: Sequence[tuple[Pixels, Mask]]) -> Sequence[Pixels]:
        """Blur the pictures."""
        return [
            np.asarray(cv2.GaussianBlur(picture, (0, 0), self.settings.sigma * max(picture.shape[:2])), np.uint8)
            for picture, _ in pictures
        ]
