"""A picture and its painted counterpart, small: what is removed is outlined."""

import base64
import io

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from trivium.vision.decoding import Unreadable, decode

_MAX_SIDE, _MAX_PIXELS = 2048, 100_000_000
_OUTER, _INNER = (255, 255, 255), (200, 0, 90)  # two colours: one of them stands out from any background


def scaled(image: Image.Image, side: int) -> Image.Image:
    """The picture with its longer side at `side` pixels, also when it is smaller."""
    factor = side / max(image.size)
    size = (max(1, round(image.width * factor)), max(1, round(image.height * factor)))
    return image.resize(size, Image.Resampling.BICUBIC)


def outline(mask: NDArray[np.bool_], width: int) -> NDArray[np.bool_]:
    """The pixels of a mask that are at most `width` pixels from one that is not in it; the picture's edge is none."""
    inside = mask
    for _ in range(width):
        padded = np.pad(inside, 1, mode="edge")
        inside = inside & padded[:-2, 1:-1] & padded[2:, 1:-1] & padded[1:-1, :-2] & padded[1:-1, 2:]
    return mask & ~inside


def data_address(image: Image.Image) -> str:
    """A `data:` address of the picture as JPEG."""
    out = io.BytesIO()
    image.save(out, "JPEG", quality=82)
    return "data:image/jpeg;base64," + base64.b64encode(out.getvalue()).decode()


def small(data: bytes, side: int, mask: NDArray[np.bool_] | None = None) -> tuple[str, tuple[int, int]] | None:
    """A `data:` address of an encoded picture, its mask outlined, and its (width, height); None if it is unreadable.

    Args:
        data: encoded picture.
        side: pixels of its longer side.
        mask: (height, width) in the picture's own pixels.
    """
    try:
        picture = scaled(decode(data, max_side=_MAX_SIDE, max_pixels=_MAX_PIXELS), side)
    except Unreadable:
        return None
    if mask is not None:
        region = np.asarray(Image.fromarray(mask).resize(picture.size, Image.Resampling.NEAREST))
        pixels = np.array(picture)
        pixels[outline(region, 4)] = _OUTER
        pixels[outline(region, 2)] = _INNER
        picture = Image.fromarray(pixels)
    return data_address(picture), picture.size
