"""One colour, the mean of what goes: a baseline of the paper."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from trivium.decorrelation.painting.filling import Filling, Settings
from trivium.formats.masks import Mask, Pixels


class Mean(Filling[Settings]):
    """The mean colour of what goes: Σ_{p ∈ mask} x_p / |mask|, rounded."""

    name = "mean"
    label = "the mean"

    def paint(self, pictures: Sequence[tuple[Pixels, Mask]]) -> Sequence[Pixels]:
        """Paint each picture in one colour."""
        return [_mean(picture, mask) for picture, mask in pictures]


def _mean(picture: Pixels, mask: Mask) -> Pixels:
    colour: NDArray[np.float64] = picture[mask].mean(axis=0)
    return np.broadcast_to(np.rint(colour).astype(np.uint8), picture.shape)
