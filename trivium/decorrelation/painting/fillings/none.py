"""No filling: nothing is painted, D is alone."""

from collections.abc import Sequence

from trivium.decorrelation.painting.filling import Filling, Settings
from trivium.formats.masks import Mask, Pixels


class Nothing(Filling[Settings]):
    """Leaves every picture out."""

    name = "none"
    label = "nothing"

    def paint(self, pictures: Sequence[tuple[Pixels, Mask]]) -> Sequence[Pixels]:
        """The pictures as they are."""
        return [picture for picture, _ in pictures]
