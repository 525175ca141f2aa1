"""No filling: nothing is painted, D is alone."""

from collections.abc import Sequence

from trivium.decorrelation.painting.filling import Filling, Settings
from trivium.formats.masks import Mask, Pixels


class Nothing(Filling[Settings]):
    """No painting: every picture stays as it is."""

    name = "none"
    label = "nothing"

    def paint(self, pictures: Sequence[tuple[Pixels, Mask]]) -> Sequence[Pixels]:
        """Return the pictures as they are."""
        return [picture for picture, _ in pictures]
