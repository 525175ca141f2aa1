"""Pictures of any mode as RGB: transparency and palettes onto white, greys of many bits scaled (kvqae.md §1, §3)."""

import math

import numpy as np
from PIL import Image, ImageChops, TiffImagePlugin

_ROWS, _COLUMNS = 256, 65_536  # of a large picture that are converted at a time, about


def note_greys(image: TiffImagePlugin.TiffImageFile) -> None:
    """Note in `info` what Pillow does not do to a TIFF's greys of more than 8 bits: turn and scale them."""
    tags = image.tag_v2
    if image.mode in ("I;16", "F"):
        image.info["white_is_zero"] = tags.get(TiffImagePlugin.PHOTOMETRIC_INTERPRETATION) == 0
    if tags.get(TiffImagePlugin.BITSPERSAMPLE) == (12,):
        image.info["bits"] = 12
    kind = tags.get(TiffImagePlugin.SAMPLEFORMAT, (1,))
    image.info["unsigned"] = image.mode == "I" and kind == (1,)  # Pillow has signed ones alone
    if image.mode == "L" and kind == (2,):
        image.info["unreadable"] = "greys from -128 to 127"


def fit_transparency(image: Image.Image, bits: int) -> None:
    """Scale the colour that a PNG calls transparent as Pillow scales pixels of 2, 4 or three times 16 bits."""
    colour = image.info["transparency"]
    if image.mode == "L" and bits < 8:
        image.info["transparency"] = colour * 255 // (2**bits - 1)
    elif image.mode == "RGB" and bits == 16:
        image.info["transparency"] = tuple(value >> 8 for value in colour)


def to_rgb(image: Image.Image, span: tuple[float, float] | None = None) -> Image.Image:
    """A picture of any mode in RGB.

    What is transparent becomes white; greys of 16 (12) bits are scaled by 65535 (4095), and 32-bit integers and floats
    so that the smallest is black and the largest white, or the other way round where a TIFF says that white is zero.

    Args:
        image: with its pixels.
        span: the smallest and the largest value of the picture of which this is a part; None: it is whole.

    Raises:
        ValueError: floats that are no numbers, greys of 2³¹ and more or below 0, or colours that Pillow cannot convert.
    """
    if problem := image.info.get("unreadable"):
        raise ValueError(problem)
    if image.mode in ("I", "F"):
        grey = _scale(image, *(span or _span(image)))
    elif image.mode.startswith("I;16"):  # Pillow's own conversion would clip at 255
        values = np.asarray(image)
        levels = (values // (16 if image.info.get("bits") == 12 else 257)).astype(np.uint8)
        if "transparency" in image.info:
            levels[values == image.info["transparency"]] = 255
        grey = Image.fromarray(levels)
    elif image.has_transparency_data:
        image = image.convert("RGBA")
        return Image.alpha_composite(Image.new("RGBA", image.size, "white"), image).convert("RGB")
    else:
        return image.convert("RGB")
    return (ImageChops.invert(grey) if image.info.get("white_is_zero") else grey).convert("RGB")


def _span(image: Image.Image) -> tuple[float, float]:
    """The smallest and the largest value of 32-bit integers or floats."""
    low, high = map(float, image.getextrema())  # type: ignore[arg-type]
    if not (math.isfinite(low) and math.isfinite(high)):
        raise ValueError("floats that are no numbers")
    if low < 0 and image.info.get("unsigned"):
        raise ValueError("greys of 2³¹ and more")
    return low, high


def _scale(image: Image.Image, low: float, high: float) -> Image.Image:
    """32-bit integers or floats as 8-bit greys from 0 at `low` to 255 at `high`."""
    if not np.isfinite(np.asarray(image)).all():
        raise ValueError("floats that are no numbers")
    scale = 255 / (high - low) if high > low else 0.0
    return image.convert("F").point(lambda value: value * scale + (0.5 - low * scale)).convert("L")


def convert_in_tiles(image: Image.Image, max_side: int) -> Image.Image:
    """`to_rgb` and Pillow's first step of a reduction, tile by tile: a large picture is never held twice."""
    span = _span(image) if image.mode in ("I", "F") else None
    factor = max(1, max(image.size) // (2 * max_side))
    reduced = Image.new("RGB", (math.ceil(image.width / factor), math.ceil(image.height / factor)))
    rows, columns = (factor * max(1, most // factor) for most in (_ROWS, _COLUMNS))
    for top in range(0, image.height, rows):
        for left in range(0, image.width, columns):
            tile = image.crop((left, top, min(left + columns, image.width), min(top + rows, image.height)))
            reduced.paste(to_rgb(tile, span).reduce(factor), (left // factor, top // factor))
    return reduced
