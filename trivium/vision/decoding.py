"""Encoded image bytes → an upright RGB picture of bounded size: the one decoder of the pipeline (kvqae.md §1, §3).

Commons holds scans of 20 000 pixels, CMYK prints, transparent logos, 16-bit greys and broken files; everything that
looks at a picture (faces, ImageNet, CLIP) gets the same array from here, decoded once. Pictures come from strangers,
too: only a few formats are looked at, and the header says whether a picture is small enough.
"""

import io
import math
import struct
import warnings
from pathlib import Path
from typing import Literal, NamedTuple, get_args

import numpy as np
from PIL import ExifTags, Image, UnidentifiedImageError

from trivium.core.errors import BadInput

FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF")  # the first also opens photographs with previews, MPO


def opened(data: bytes) -> Image.Image:
    """A picture of which the header has been read, and no pixel yet.

    Raises:
        UnidentifiedImageError: it is in none of `FORMATS`.
    """
    return Image.open(io.BytesIO(data), formats=FORMATS)


Reason = Literal["not_an_image", "corrupt", "too_large"]
REASONS: tuple[Reason, ...] = get_args(Reason)
JPEG_PIXELS = 100_000_000  # of a JPEG as it is stored: it is decoded at 1/2, 1/4 or 1/8
PIXELS = 40_000_000  # of anything else, and of a JPEG as it is decoded
WEBP_PIXELS = 20_000_000  # Pillow holds four copies of a WebP
_WHOLE = 16_000_000  # pixels of the largest picture that is converted in one piece
_ROWS = 256  # of such a picture that are converted at a time, about
# What Pillow raises at EXIF blocks: no TIFF header; a cut one; a PNG's profile that is not hexadecimal; XMP of no text.
_BROKEN_EXIF = (SyntaxError, struct.error, ValueError, TypeError)
_STORED = {"JPEG": JPEG_PIXELS, "MPO": JPEG_PIXELS, "WEBP": WEBP_PIXELS}
_TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}


def read_rgb(data: bytes, name: str, place: Path | str | None = None) -> Image.Image:
    """A picture that a data set or a stage has brought, as it is stored, in RGB.

    Raises:
        BadInput: it cannot be decoded; `name` and `place` say which it is, and where it is from.
    """
    try:
        return opened(data).convert("RGB")
    except OSError as error:
        raise BadInput(f"not a readable picture: {error}", file=place, got=name) from None


class Unreadable(ValueError):
    """These bytes give no picture; `reason` is what the stages count."""

    def __init__(self, reason: Reason, detail: str = "") -> None:
        self.reason = reason
        super().__init__(f"{reason}: {detail}" if detail else reason)


class Picture(NamedTuple):
    """A decoded picture, and whether its EXIF block is broken: then it is as it is stored, perhaps not upright."""

    image: Image.Image
    broken_exif: bool


def decode(data: bytes, *, max_side: int, max_pixels: int) -> Image.Image:
    """`decode_picture` where nobody counts broken EXIF blocks: to show a picture, say."""
    return decode_picture(data, max_side=max_side, max_pixels=max_pixels).image


def decode_picture(data: bytes, *, max_side: int, max_pixels: int) -> Picture:
    """Decode, turn upright, convert to RGB and reduce.

    Args:
        data: an encoded image in one of `formats.FORMATS`; of an animation the first frame counts.
        max_side: longer side of the result, in pixels; smaller pictures keep their size.
        max_pixels: pictures with more are not decoded, unless they are JPEGs, which can be decoded at 1/2, 1/4 or 1/8;
            none above `PIXELS`, no JPEG that is stored with more than `JPEG_PIXELS`, no WebP above `WEBP_PIXELS`.

    Returns:
        An RGB picture with sides from 1 to `max_side`; transparent parts are white.

    Raises:
        Unreadable: `not_an_image` (none of the formats), `corrupt` (also truncated), or `too_large`.
    """
    try:
        with warnings.catch_warnings(action="ignore", category=Image.DecompressionBombWarning):
            image = opened(data)
        _check_size(image, _STORED.get(image.format or "", PIXELS))
        _draft(image, max_side)
        _check_size(image, min(max_pixels, PIXELS))
        image.load()
    except (Unreadable, MemoryError):
        raise
    except UnidentifiedImageError:
        raise Unreadable("not_an_image") from None
    except Image.DecompressionBombError as error:
        raise Unreadable("too_large", str(error)) from None
    except Exception as error:  # Pillow's decoders raise almost anything on broken files
        raise Unreadable("corrupt", str(error)) from error
    orientation = exif_orientation(image)  # a broken EXIF block does not spoil the picture
    image = _rgb(image) if image.width * image.height <= _WHOLE else _in_bands(image, max_side)
    image = turned(image, orientation)
    image.thumbnail((max_side, max_side), Image.Resampling.LANCZOS)
    return Picture(image, orientation is None)


def _check_size(image: Image.Image, most: int) -> None:
    if image.width * image.height > most:
        raise Unreadable("too_large", f"{image.width} × {image.height} pixels")


def _draft(image: Image.Image, max_side: int) -> None:
    """Have a JPEG decoded at a fraction that still has `max_side` pixels both ways, or the longer way if it is huge."""
    size = (max_side, max_side)
    if image.width * image.height > PIXELS:
        share = max_side / max(image.size)
        size = (math.ceil(share * image.width), math.ceil(share * image.height))
    image.draft(None, size)


def exif_orientation(image: Image.Image) -> int | None:
    """The EXIF orientation, 1 where there is none; None where the EXIF block breaks before it says one."""
    with warnings.catch_warnings(record=True) as complaints:  # of Pillow, about entries that it passes over
        warnings.simplefilter("always")
        try:
            if "exif" in image.info:  # opening a JPEG reads the block too, and hides what it raises
                Image.Exif().load(image.info["exif"])
            orientation = image.getexif().get(ExifTags.Base.Orientation)
        except _BROKEN_EXIF:
            return None
    if orientation is None:
        return None if complaints else 1
    return orientation if isinstance(orientation, int) else None


def turned(image: Image.Image, orientation: int | None) -> Image.Image:
    """The picture, turned as its orientation wants it; `exif_transpose` also rewrites the EXIF block, and may fail."""
    method = _TURNS.get(orientation or 1)
    return image if method is None else image.transpose(method)


def _rgb(image: Image.Image) -> Image.Image:
    if image.mode.startswith("I;16"):  # Pillow's own conversion would clip at 255
        return Image.fromarray((np.asarray(image) // 257).astype(np.uint8)).convert("RGB")
    if image.has_transparency_data:
        image = image.convert("RGBA")
        return Image.alpha_composite(Image.new("RGBA", image.size, "white"), image).convert("RGB")
    return image.convert("RGB")


def _in_bands(image: Image.Image, max_side: int) -> Image.Image:
    """`_rgb` and Pillow's first step of a reduction, band by band: a large picture is never held twice."""
    factor = max(1, max(image.size) // (2 * max_side))
    reduced = Image.new("RGB", (math.ceil(image.width / factor), math.ceil(image.height / factor)))
    rows = factor * max(1, _ROWS // factor)
    for top in range(0, image.height, rows):
        band = image.crop((0, top, image.width, min(top + rows, image.height)))
        reduced.paste(_rgb(band).reduce(factor), (0, top // factor))
    return reduced
