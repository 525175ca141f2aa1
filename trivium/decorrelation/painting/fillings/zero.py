"""Black: the paper's simplest baseline to in-painting."""

from collections.abc import Sequence

import numpy as np

from trivium.decorrelation.painting.filling import Filling, Settings
from trivium.formats.masks import Mask, Pixels


class Zero(Filling[Settings]):
    """Zeros in the place of what goes."""

    name = "zero"
    label = "zeros"

    def paint(self, pictures: Sequence[tuple[Pixels, Mask]]) -> Sequence[Pixels]:
        """Paint black."""
        return [np.zeros_like(picture) for picture, _ in pictures]
