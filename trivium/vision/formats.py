"""Formats of pictures that are looked at. Pillow knows more, such as EPS, which Ghostscript would draw."""

import io

from PIL import Image

FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF")  # the first also opens photographs with previews, MPO


def opened(data: bytes) -> Image.Image:
    """A picture of which the header has been read, and no pixel yet.

    Raises:
        UnidentifiedImageError: it is in none of `FORMATS`.
    """
    return Image.open(io.BytesIO(data), formats=FORMATS)
