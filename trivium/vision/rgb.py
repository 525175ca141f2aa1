"""Pictures of any mode as RGB: transparency and palettes onto white, greys of many bits scaled (kvqae.md §1, §3)."""

import numpy as np
from PIL import Image, ImageChops, TiffImagePlugin


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


def to_rgb(image: Image.Image) -> Image.Image:
    """A picture of any mode in RGB.

    What is transparent becomes white; greys of 16 (12) bits are scaled by 65535 (4095), and 32-bit integers and floats
    so that the smallest is black and the largest white, or the other way round where a TIFF says that white is zero.

    Args:
        image: with its pixels.

    Raises:
        ValueError: floats that are no numbers, greys of 2³¹ and more or below 0, or colours that Pillow cannot convert.
    """
    if problem := image.info.get("unreadable"):
        raise ValueError(problem)
    if image.mode in ("I", "F"):
        grey = _scale(image)
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


def _scale(image: Image.Image) -> Image.Image:
    """32-bit integers or floats as 8-bit greys, from 0 of the smallest value to 255 of the largest."""
    if not np.isfinite(np.asarray(image)).all():
        raise ValueError("floats that are no numbers")
    low, high = map(float, image.getextrema())  # type: ignore[arg-type]
    if low < 0 and image.info.get("unsigned"):
        raise ValueError("greys of 2³¹ and more")
    scale = 255 / (high - low) if high > low else 0.0
    return image.convert("F").point(lambda value: value * scale + (0.5 - low * scale)).convert("L")
