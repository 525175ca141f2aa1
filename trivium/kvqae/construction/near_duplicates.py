"""Near-duplicate pictures by the difference hash of their pixels, and by the pixels (kvqae.md §2, step 4).

The picture is reduced to 9 × 8 grey values; bit (r, c) says whether grey grows from column c to c + 1 of row r (the
"dHash"). Copies that were scaled, compressed or brightened keep nearly all of the 64 bits; a crop, a mirror image or
another photograph does not.

Of flat pictures the hash says little: without a slope, all bits of a flag and nearly all of a logo are 0. So the grey
values themselves have to agree as well, to `MAX_GREY` levels of 255 on average. Scaling and compressing change them by
2 levels, brightening by a sixth by about 20; two photographs that have nothing in common differ by 40.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from trivium.core.image_shards import Images
from trivium.vision.decoding import decode_picture

BITS = 64
MAX_GREY = 24.0
_ROWS = _COLUMNS = 8


@dataclass(frozen=True, eq=False)
class Fingerprint:
    """What a picture is compared by.

    Attributes:
        grey: (8, 9), grey values of the reduced picture, 0 to 255.
        bits: its difference hash as a number, row by row, the first bit the highest.
    """

    grey: NDArray[np.int16]
    bits: int


def fingerprint(picture: Image.Image) -> Fingerprint:
    """Reduce a picture to what it is compared by."""
    grey = np.asarray(picture.convert("L").resize((_COLUMNS + 1, _ROWS), Image.Resampling.BOX), dtype=np.int16)
    grows = grey[:, 1:] > grey[:, :-1]
    return Fingerprint(grey, int.from_bytes(np.packbits(grows).tobytes(), "big"))


def hamming(a: int, b: int) -> int:
    """In how many of the 64 bits two hashes differ."""
    return (a ^ b).bit_count()


def near_duplicates(a: Fingerprint, b: Fingerprint, max_bits: int) -> bool:
    """Whether hashes differ in at most `max_bits` and grey values by at most `MAX_GREY` on average."""
    return hamming(a.bits, b.bits) <= max_bits and float(np.abs(a.grey - b.grey).mean()) <= MAX_GREY


class Fingerprints:
    """Fingerprints of a collection's images.

    Args:
        images: shards that hold the images.
        max_side, max_pixels: see `images.decode_picture`.

    Attributes:
        broken_exif: names of the images read with a broken EXIF block: they were taken as stored, perhaps not upright.
    """

    def __init__(self, images: Images, *, max_side: int, max_pixels: int) -> None:
        self._images, self._max_side, self._max_pixels = images, max_side, max_pixels
        self.broken_exif: set[str] = set()

    def __contains__(self, name: str) -> bool:
        return name in self._images

    def of(self, name: str) -> Fingerprint:
        """The image's fingerprint.

        Raises:
            BadInput: no such image.
            Unreadable: its bytes give no picture.
        """
        data = self._images.read(name)
        picture = decode_picture(data, max_side=self._max_side, max_pixels=self._max_pixels)
        if picture.broken_exif:
            self.broken_exif.add(name)
        return fingerprint(picture.image)
