"""Pictures of image shards, decoded on access."""

from collections.abc import Sequence
from typing import Any

from PIL import Image

from trivium.core.image_shards import Images
from trivium.vision.decoding import read_rgb


class ShardPictures(Sequence[Image.Image]):
    """RGB pictures by name, in this order; a slice is a list of decoded ones.

    Args:
        images: the shards.
        names: of the pictures.

    Raises:
        BadInput: when a picture is asked for: it cannot be decoded, or see `Images`.
    """

    def __init__(self, images: Images, names: Sequence[str]) -> None:
        self._images, self._names = images, names

    def __len__(self) -> int:
        return len(self._names)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self._decoded(name) for name in self._names[place]]
        return self._decoded(self._names[place])

    def _decoded(self, name: str) -> Image.Image:
        return read_rgb(self._images.read(name), name, self._images.folder)
