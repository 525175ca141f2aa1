"""Decode encoded image bytes to RGB, in one way for all pipelines (kvqae.md §1, §3; decorrelation.md §1).

Wikimedia Commons holds scans 20 000 pixels wide, CMYK prints, transparent logos, 16-bit greys and broken files. The
files are not trusted: few formats are read, and a picture's size is checked in its header before it is decoded.
"""

import base64
import io
import math
import random
import struct
import warnings
import zlib
from collections.abc import Callable
from itertools import compress
from pathlib import Path
from typing import Literal, NamedTuple, get_args

import numpy as np
from PIL import ExifTags, Image, ImageChops, PngImagePlugin, TiffImagePlugin, UnidentifiedImageError

from trivium.core.errors import BadInput

FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF")  # the first also opens photographs with previews, MPO
Reason = Literal["not_an_image", "corrupt", "too_large"]
REASONS: tuple[Reason, ...] = get_args(Reason)
# Of pictures that are read in spite of them: the EXIF block is broken, so that a picture is kept as it is stored,
# perhaps not upright; a JPEG lacks its last bytes.
FLAWS = ("broken_exif", "truncated")
JPEG_PIXELS = 100_000_000  # of a JPEG as it is stored: it is decoded at 1/2, 1/4 or 1/8
PIXELS = 40_000_000  # of anything else, and of a JPEG as it is decoded
WEBP_PIXELS = 20_000_000  # Pillow holds four copies of a WebP
MOST_LOST = 0.2  # share of a JPEG's rows of blocks that may be missing at its end
# What Pillow raises at EXIF blocks: no TIFF header; a cut one; a PNG's profile that is not hexadecimal; XMP of no text.
_BROKEN_EXIF = (SyntaxError, struct.error, ValueError, TypeError)
_STORED = {"JPEG": JPEG_PIXELS, "MPO": JPEG_PIXELS, "WEBP": WEBP_PIXELS}
_PNG, _JPEG, _END_OF_JPEG = b"\x89PNG\r\n\x1a\n", b"\xff\xd8", b"\xff\xd9"
_TEXTS = (b"tEXt", b"zTXt", b"iTXt", b"iCCP")  # a PNG's, and its colour profile
_ORIENTED = (b"Raw profile type exif", b"XML:com.adobe.xmp")  # texts that may hold the orientation
_TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}


def open_picture(data: bytes) -> Image.Image:
    """Open a picture: read its header, but no pixels.

    Raises:
        UnidentifiedImageError: it is in none of `FORMATS`.
    """
    if data.startswith(_JPEG):
        data = data.rstrip(b"\0")  # zeros at the end of a partial download would be read as grey
    image = Image.open(io.BytesIO(_skip_texts(data)), formats=FORMATS)
    if isinstance(image, TiffImagePlugin.TiffImageFile):
        note_greys(image)
    elif image.format == "PNG" and "transparency" in image.info:
        fit_transparency(image, bits=data[24])
    return image


def _skip_texts(data: bytes) -> bytes:
    """Remove texts from a PNG: Pillow refuses pictures with a text of more than 1 MiB."""
    if not data.startswith(_PNG):
        return data
    kept, start, place = list[bytes](), 0, len(_PNG)
    while place + 8 <= len(data):
        length, kind = struct.unpack_from(">I4s", data, place)
        end = place + 12 + length
        if kind in _TEXTS and not _may_turn(kind, data[place + 8 : end - 4]):
            kept.append(data[start:place])
            start = end
        place = end
    return b"".join([*kept, data[start:]]) if kept else data


def _may_turn(kind: bytes, chunk: bytes) -> bool:
    keyword, _, text = chunk.partition(b"\0")
    if keyword not in _ORIENTED or len(text) > PngImagePlugin.MAX_TEXT_CHUNK:
        return False
    if kind != b"zTXt":
        return kind == b"tEXt" or text[:1] == b"\0"  # an iTXt may be compressed
    try:
        unpacked = zlib.decompressobj().decompress(text[1:], PngImagePlugin.MAX_TEXT_CHUNK)
    except zlib.error:
        return True  # Pillow reports it
    return len(unpacked) < PngImagePlugin.MAX_TEXT_CHUNK


def load_picture(data: bytes, prepare: Callable[[Image.Image], None] = lambda image: None) -> tuple[Image.Image, bool]:
    """Load a picture in its file's mode and orientation; returns also whether it is a JPEG without its end.

    Such a JPEG is accepted if at most `MOST_LOST` of its rows are lost; these are grey.

    Args:
        data: an encoded picture.
        prepare: called after the header has been read; it may raise to refuse the picture.

    Raises:
        Exception: whatever Pillow's decoders raise for broken files, or `prepare` raises.
    """
    image = open_picture(data)
    prepare(image)
    try:
        image.load()
    except OSError:
        data = _whole_segments(data.rstrip(b"\0") if data.startswith(_JPEG) else data)
        if image.format not in ("JPEG", "MPO") or _lost(data) > MOST_LOST:
            raise
        image = open_picture(data + _END_OF_JPEG)
        prepare(image)
        image.load()
        return image, True
    return image, False


def _lost(data: bytes) -> float:
    """Compute the share of a JPEG's rows, less two rows of blocks, that change when noise follows its end."""
    blocks = []
    for end in (b"", random.Random(0).randbytes(1000).replace(b"\xff", b"\xfe")):
        image = open_picture(data + end + _END_OF_JPEG)
        image.draft(None, (1, 1))  # at 1/8: a pixel is a block
        blocks.append(np.asarray(image).reshape(image.height, -1))
    rows, changed = len(blocks[0]), np.flatnonzero((blocks[0] != blocks[1]).any(axis=1))
    return max(0.0, (rows - 2 - changed[0]) / rows) if len(changed) else 0.0


def _whole_segments(data: bytes) -> bytes:
    """Cut an incomplete last marker or scan header off a JPEG."""
    data = data.rstrip(b"\xff")
    last = max(data.rfind(b"\xff\xc4"), data.rfind(b"\xff\xda"))
    length = int.from_bytes(data[last + 2 : last + 4], "big")
    return data[:last] if last >= 0 and last + 2 + max(length, 2) > len(data) else data


def read_rgb(data: bytes, name: str, place: Path | str | None = None) -> Image.Image:
    """Decode a picture of a data set or stage at full size, upright and in RGB.

    Raises:
        BadInput: it cannot be decoded; the message has its `name` and its file, `place`.
    """
    try:
        image, _ = load_picture(data)
        return turn(to_rgb(image), exif_orientation(image))
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise BadInput(f"not a readable picture: {error}", file=place, got=name) from None


class Unreadable(ValueError):
    """These bytes cannot be decoded; stages count the `reason`."""

    def __init__(self, reason: Reason, detail: str = "") -> None:
        self.reason = reason
        super().__init__(f"{reason}: {detail}" if detail else reason)


class Picture(NamedTuple):
    """A decoded picture: upright, in RGB, and the members of `FLAWS` that apply to it."""

    image: Image.Image
    flaws: tuple[str, ...] = ()


def decode(data: bytes, *, max_side: int, max_pixels: int) -> Image.Image:
    """Decode a picture as `decode_picture` does, without its flaws."""
    return decode_picture(data, max_side=max_side, max_pixels=max_pixels).image


def decode_picture(data: bytes, *, max_side: int, max_pixels: int) -> Picture:
    """Decode, turn upright, convert to RGB and reduce.

    Args:
        data: an encoded image in one of `FORMATS`; of an animation the first frame counts.
        max_side: longer side of the result, in pixels; smaller pictures keep their size.
        max_pixels: pictures with more are not decoded, except JPEGs, which can be decoded at 1/2, 1/4 or 1/8. No
            picture may have more than `PIXELS`, no JPEG more than `JPEG_PIXELS` as stored, no WebP more than
            `WEBP_PIXELS`.

    Returns:
        An RGB picture with sides from 1 to `max_side`; transparent parts are white.

    Raises:
        Unreadable: `not_an_image` (none of the formats), `corrupt` (also where much is lost), or `too_large`.
    """

    def prepare(image: Image.Image) -> None:
        _check_size(image, _STORED.get(image.format or "", PIXELS))
        _draft(image, max_side)
        _check_size(image, min(max_pixels, PIXELS))

    try:
        with warnings.catch_warnings(action="ignore", category=Image.DecompressionBombWarning):
            image, truncated = load_picture(data, prepare)
        orientation = exif_orientation(image)  # a broken EXIF block does not spoil the picture
        image = to_rgb(image)
    except (Unreadable, MemoryError):
        raise
    except UnidentifiedImageError:
        raise Unreadable("not_an_image") from None
    except Image.DecompressionBombError as error:
        raise Unreadable("too_large", str(error)) from None
    except Exception as error:  # Pillow's decoders raise almost anything on broken files
        if str(error).startswith("out of memory"):  # an OSError of its decoders
            raise MemoryError from error
        raise Unreadable("corrupt", str(error)) from error
    image = turn(image, orientation)
    image.thumbnail((max_side, max_side), Image.Resampling.LANCZOS)
    return Picture(image, tuple(compress(FLAWS, (orientation is None, truncated))))


def _check_size(image: Image.Image, most: int) -> None:
    if image.width * image.height > most:
        raise Unreadable("too_large", f"{image.width} × {image.height} pixels")


def _draft(image: Image.Image, max_side: int) -> None:
    """Have a JPEG decoded at a fraction with at least `max_side` pixels both ways, or the longer way if it is huge."""
    size = (max_side, max_side)
    if image.width * image.height > PIXELS:
        share = max_side / max(image.size)
        size = (math.ceil(share * image.width), math.ceil(share * image.height))
    image.draft(None, size)


def exif_orientation(image: Image.Image) -> int | None:
    """Read the EXIF orientation, 1 where there is none; None where the EXIF block is broken before it."""
    with warnings.catch_warnings(record=True) as complaints:  # Pillow warns about entries that it skips
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


def turn(image: Image.Image, orientation: int | None) -> Image.Image:
    """Turn a picture by its orientation; Pillow's `exif_transpose` also rewrites the EXIF block, which may fail."""
    method = _TURNS.get(orientation or 1)
    return image if method is None else image.transpose(method)


def note_greys(image: TiffImagePlugin.TiffImageFile) -> None:
    """Note in `info` how a TIFF's greys of more than 8 bits are to be inverted and scaled, which Pillow does not do."""
    tags = image.tag_v2
    if image.mode in ("I;16", "F"):
        image.info["white_is_zero"] = tags.get(TiffImagePlugin.PHOTOMETRIC_INTERPRETATION) == 0
    if tags.get(TiffImagePlugin.BITSPERSAMPLE) == (12,):
        image.info["bits"] = 12
    kind = tags.get(TiffImagePlugin.SAMPLEFORMAT, (1,))
    image.info["unsigned"] = image.mode == "I" and kind == (1,)  # Pillow has signed integers alone
    if image.mode == "L" and kind == (2,):
        image.info["unreadable"] = "greys from -128 to 127"


def fit_transparency(image: Image.Image, bits: int) -> None:
    """Scale a PNG's transparent colour as Pillow scales pixels of 2, 4 or 3 × 16 bits."""
    colour = image.info["transparency"]
    if image.mode == "L" and bits < 8:
        image.info["transparency"] = colour * 255 // (2**bits - 1)
    elif image.mode == "RGB" and bits == 16:
        image.info["transparency"] = tuple(value >> 8 for value in colour)


def to_rgb(image: Image.Image) -> Image.Image:
    """Convert a picture of any mode to RGB.

    Transparent parts become white; greys of 16 (12) bits are scaled by 65535 (4095), and 32-bit integers and floats
    so that the smallest is black and the largest white, or the other way round where a TIFF says that white is zero.

    Args:
        image: with its pixels loaded.

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
    """Scale 32-bit integers or floats to 8-bit greys, from 0 (smallest value) to 255 (largest)."""
    if not np.isfinite(np.asarray(image)).all():
        raise ValueError("floats that are no numbers")
    low, high = map(float, image.getextrema())  # type: ignore[arg-type]
    if low < 0 and image.info.get("unsigned"):
        raise ValueError("greys of 2³¹ and more")
    scale = 255 / (high - low) if high > low else 0.0
    return image.convert("F").point(lambda value: value * scale + (0.5 - low * scale)).convert("L")


def data_address(picture: Image.Image, quality: int = 82) -> str:
    """Return a `data:` address of the picture as JPEG of this quality."""
    out = io.BytesIO()
    picture.save(out, "JPEG", quality=quality)
    return "data:image/jpeg;base64," + base64.b64encode(out.getvalue()).decode()
