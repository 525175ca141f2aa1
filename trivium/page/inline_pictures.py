"""Pictures inside the page: small, with what matters in them framed or outlined."""

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageOps

from trivium.vision.decoding import Unreadable, data_address, decode

Box = tuple[float, float, float, float]  # left, top, right, bottom as shares of the picture's sides
_FRAME = "#e5141f"  # the paper's red
_OUTER, _INNER = (255, 255, 255), (200, 0, 90)  # two colours: one of them stands out from any background


def read_picture(data: bytes) -> Image.Image | None:
    """An encoded picture, a large one decoded small; None when it cannot be read."""
    try:
        return decode(data, max_side=2048, max_pixels=100_000_000)
    except Unreadable:
        return None


def thumbnail(data: bytes, side: int, box: Box | None = None) -> str | None:
    """A `data:` address of an encoded picture, cut to a square of `side` pixels, a frame at `box`; None: unreadable."""
    image = read_picture(data)
    if image is None:
        return None
    if box is not None:
        left, top, right, bottom = box
        corners = (left * image.width, top * image.height, right * image.width, bottom * image.height)
        ImageDraw.Draw(image).rectangle(corners, outline=_FRAME, width=max(1, round(3 * min(image.size) / side)))
    return data_address(ImageOps.fit(image, (side, side)))


def outline(mask: NDArray[np.bool_], width: int) -> NDArray[np.bool_]:
    """The pixels of a mask that are at most `width` pixels from one that is not in it; the picture's edge is none."""
    from scipy.ndimage import binary_erosion  # its import takes a tenth of a second

    return mask & ~binary_erosion(mask, iterations=width, border_value=1)


def draw_outlined(data: bytes, side: int, mask: NDArray[np.bool_] | None = None) -> tuple[str, tuple[int, int]] | None:
    """A `data:` address of an encoded picture, and its (width, height), the longer `side`; None if it is unreadable.

    The `mask`, (height, width) in the picture's own pixels, is outlined.
    """
    image = read_picture(data)
    if image is None:
        return None
    width, height = (max(1, round(pixels * side / max(image.size))) for pixels in image.size)
    picture = image.resize((width, height), Image.Resampling.BICUBIC)
    if mask is not None:
        region = np.asarray(Image.fromarray(mask).resize(picture.size, Image.Resampling.NEAREST))
        pixels = np.array(picture)
        pixels[outline(region, 4)] = _OUTER
        pixels[outline(region, 2)] = _INNER
        picture = Image.fromarray(pixels)
    return data_address(picture), picture.size
