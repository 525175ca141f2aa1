"""Near-duplicate pictures by the difference hash of their pixels (kvqae.md §2, step 4).

The picture is reduced to 9 × 8 grey values; bit (r, c) says whether grey grows from column c to c + 1 of row r (the
"dHash"). Copies that were scaled, compressed or brightened keep nearly all of the 64 bits; a crop, a mirror image or
another photograph does not.
"""

import numpy as np
from PIL import Image

from stages.kvqae.images import decode
from stages.tables import Images

BITS = 64
_ROWS = _COLUMNS = 8


def difference_hash(picture: Image.Image) -> int:
    """The 64 bits as a number, row by row, the first bit the highest."""
    grey = picture.convert("L").resize((_COLUMNS + 1, _ROWS), Image.Resampling.BOX)
    pixels = np.asarray(grey, dtype=np.int16)
    grows = pixels[:, 1:] > pixels[:, :-1]
    return int.from_bytes(np.packbits(grows).tobytes(), "big")


def hamming(a: int, b: int) -> int:
    """In how many of the 64 bits two hashes differ."""
    return (a ^ b).bit_count()


class ImageHashes:
    """Difference hashes of a collection's images.

    Args:
        images: shards that hold the images.
        max_side, max_pixels: see `images.decode`.
    """

    def __init__(self, images: Images, *, max_side: int, max_pixels: int) -> None:
        self._images, self._max_side, self._max_pixels = images, max_side, max_pixels

    def __contains__(self, name: str) -> bool:
        return name in self._images

    def of(self, name: str) -> int:
        """The image's hash.

        Raises:
            BadInput: no such image.
            Unreadable: its bytes give no picture.
        """
        return difference_hash(decode(self._images.read(name), max_side=self._max_side, max_pixels=self._max_pixels))
