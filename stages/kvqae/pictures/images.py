"""Encoded image bytes → an upright RGB picture of bounded size: the one decoder of the pipeline (kvqae.md §1, §3).

Commons holds scans of 20 000 pixels, CMYK prints, transparent logos, 16-bit greys and broken files; everything that
looks at a picture (faces, ImageNet, CLIP) gets the same array from here, decoded once.
"""

import contextlib
import io
from typing import Literal, get_args

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError

Reason = Literal["not_an_image", "corrupt", "too_large"]
REASONS: tuple[Reason, ...] = get_args(Reason)


class Unreadable(ValueError):
    """These bytes give no picture; `reason` is what the stages count."""

    def __init__(self, reason: Reason, detail: str = "") -> None:
        self.reason = reason
        super().__init__(f"{reason}: {detail}" if detail else reason)


def decode(data: bytes, *, max_side: int, max_pixels: int) -> Image.Image:
    """Decode, turn upright, convert to RGB and reduce.

    Args:
        data: an encoded image in any format that Pillow reads; of an animation the first frame counts.
        max_side: longer side of the result, in pixels; smaller pictures keep their size.
        max_pixels: pictures with more are not decoded, unless they are JPEGs, which can be decoded at 1/2, 1/4 or 1/8;
            none above 179 million, where Pillow refuses to open any.

    Returns:
        An RGB picture with sides from 1 to `max_side`; transparent parts are white.

    Raises:
        Unreadable: `not_an_image` (no known format), `corrupt` (also truncated), or `too_large`.
    """
    try:
        image: Image.Image = Image.open(io.BytesIO(data))
        image.draft(None, (max_side, max_side))
        if image.width * image.height > max_pixels:
            raise Unreadable("too_large", f"{image.width} × {image.height} pixels")
        image.load()
    except (Unreadable, MemoryError):
        raise
    except UnidentifiedImageError:
        raise Unreadable("not_an_image") from None
    except Image.DecompressionBombError as error:
        raise Unreadable("too_large", str(error)) from None
    except Exception as error:  # Pillow's decoders raise almost anything on broken files
        raise Unreadable("corrupt", str(error)) from error
    with contextlib.suppress(Exception):  # a broken EXIF block does not spoil the picture
        image = ImageOps.exif_transpose(image)
    image = _rgb(image)
    image.thumbnail((max_side, max_side), Image.Resampling.LANCZOS)
    return image


def _rgb(image: Image.Image) -> Image.Image:
    if image.mode.startswith("I;16"):  # Pillow's own conversion would clip at 255
        return Image.fromarray((np.asarray(image) // 257).astype(np.uint8)).convert("RGB")
    if image.has_transparency_data:
        image = image.convert("RGBA")
        return Image.alpha_composite(Image.new("RGBA", image.size, "white"), image).convert("RGB")
    return image.convert("RGB")
