"""One colour, the mean of what goes: a baseline of the paper."""

from collections.abc import Sequence

import numpy as np

from trivium.decorrelation.painting.filling import Filling, Settings
from trivium.formats.masks import Mask, Pixels


class Mean(Filling[Settings]):
    """The mean colour of what goes: Σ_{p ∈ mask} x_p / |mask|, rounded."""

    name = "mean"
    label = "the mean"

    def paint(self, pictures: Sequence[tuple[Pixels, Mask]]) -> Sequence[Pixels]:
        """Paint each picture in one colour."""
        colours = (np.rint(picture[mask].mean(axis=0)).astype(np.uint8) for picture, mask in pictures)
        return [np.broadcast_to(colour, picture.shape) for colour, (picture, _) in zip(colours, pictures, strict=True)]
