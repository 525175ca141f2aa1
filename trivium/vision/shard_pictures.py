"""Pictures of image shards, decoded when they are asked for: by a process that feeds a GPU, say."""

from collections.abc import Sequence
from typing import Any

from PIL import Image

from trivium.core.errors import BadInput
from trivium.core.image_shards import Images
from trivium.vision.decoding import opened


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
        try:
            return opened(self._images.read(name)).convert("RGB")
        except OSError as error:
            raise BadInput(f"not a readable picture: {error}", file=self._images.folder, got=name) from None
