"""Pictures of every mode as RGB: what is transparent, greys of any number of bits."""

import struct
import zlib

import numpy as np
import pytest
from PIL import Image

from tests.vision.test_decoding import LIMITS, encoded
from trivium.vision.decoding import decode


@pytest.mark.parametrize(
    ("source", "colour"),
    [
        (Image.new("RGB", (4, 3), (10, 20, 30)), (10, 20, 30)),
        (Image.new("L", (4, 3), 77), (77, 77, 77)),
        (Image.new("1", (4, 3), 1), (255, 255, 255)),
        (Image.new("RGBA", (4, 3), (10, 20, 30, 255)), (10, 20, 30)),
        (Image.new("RGBA", (4, 3), (10, 20, 30, 0)), (255, 255, 255)),  # transparent is white
        (Image.new("RGBA", (4, 3), (0, 0, 0, 51)), (204, 204, 204)),  # 255 · (1 − 51/255)
        (Image.new("LA", (4, 3), (0, 0)), (255, 255, 255)),
        (Image.new("RGB", (4, 3), (255, 0, 0)).convert("P"), (255, 0, 0)),
        (Image.fromarray(np.full((3, 4), 257 * 100, np.uint16)), (100, 100, 100)),  # 16 bits
    ],
)
def test_every_mode_becomes_rgb(source: Image.Image, colour: tuple[int, int, int]) -> None:
    image = decode(encoded(source), **LIMITS)
    assert image.mode == "RGB"
    assert image.size == (4, 3)
    assert set(image.get_flattened_data()) == {colour}


def ramp(low: float, high: float, kind: type) -> Image.Image:
    return Image.fromarray(np.tile(np.linspace(low, high, 64).astype(kind), (48, 1)))


@pytest.mark.parametrize(
    ("low", "high", "kind"),
    [(0, 1, np.float32), (0, 65535, np.float32), (-3, 5e6, np.float32), (0, 65535, np.int32), (-900, 900, np.int32)],
)
def test_greys_of_32_bits_are_scaled_by_their_range(low: float, high: float, kind: type) -> None:
    image = np.asarray(decode(encoded(ramp(low, high, kind), "TIFF"), **LIMITS), int)
    assert np.abs(image - np.linspace(0, 255, 64).round()[None, :, None]).max() <= 1


def png(bits: int, colours: int, row: bytes, transparent: bytes) -> bytes:
    """A PNG of one row, as the specification lays it out: Pillow writes none of few or many bits."""
    width = (len(row) * 8) // (bits * (3 if colours == 2 else 1))
    data = b"\x89PNG\r\n\x1a\n"
    header = struct.pack(">IIBBBBB", width, 1, bits, colours, 0, 0, 0)
    for kind, chunk in (
        (b"IHDR", header),
        (b"tRNS", transparent),
        (b"IDAT", zlib.compress(b"\0" + row)),
        (b"IEND", b""),
    ):
        data += struct.pack(">I", len(chunk)) + kind + chunk + struct.pack(">I", zlib.crc32(kind + chunk))
    return data


@pytest.mark.parametrize(
    ("bits", "colours", "row", "transparent", "shown"),
    [
        (1, 0, b"\x55", 1, [0, 255] * 4),
        (1, 0, b"\x55", 0, [255] * 8),
        (2, 0, b"\x1b", 2, [0, 85, 255, 255]),
        (4, 0, b"\x5a", 10, [85, 255]),
        (8, 0, b"\x05\x0a", 10, [5, 255]),
        (16, 0, b"\x12\x12\x34\x56", 0x1212, [255, 0x34]),
        (16, 2, b"\x12\x34" * 3 + b"\x56\x78" * 3, 0x1234, [255, 0x56]),
    ],
)
def test_the_colour_that_a_png_calls_transparent_is_white(bits, colours, row, transparent, shown) -> None:
    data = png(bits, colours, row, struct.pack(">H", transparent) * (3 if colours == 2 else 1))
    assert [pixel[0] for pixel in decode(data, **LIMITS).get_flattened_data()] == shown


def tiff(values: np.ndarray, *, bits: int, zero_is: int = 1, kind: int = 1) -> bytes:
    """A TIFF of one row of greys, as the specification lays it out; `zero_is` 0: white, 1: black."""
    pixels = values.tobytes()
    if bits == 12:
        pixels = int("".join(f"{value:012b}" for value in values.tolist()), 2).to_bytes(len(values) * 3 // 2, "big")
    tags = [(256, 4, len(values)), (257, 4, 1), (258, 3, bits), (259, 3, 1), (262, 3, zero_is), (273, 4, 8)]
    tags += [(277, 3, 1), (278, 4, 1), (279, 4, len(pixels)), (339, 3, kind)]
    entries = b"".join(struct.pack("<HHII", tag, form, 1, value) for tag, form, value in tags)
    directory = struct.pack("<H", len(tags)) + entries + bytes(4)
    return b"II*\0" + struct.pack("<I", 8 + len(pixels)) + pixels + directory


@pytest.mark.parametrize(("zero_is", "shown"), [(1, [0, 128, 255]), (0, [255, 127, 0])])
@pytest.mark.parametrize(("bits", "kind", "top"), [(8, 1, 255), (16, 1, 65535), (32, 3, 0.5)])
def test_a_tiff_of_which_white_is_zero_is_no_negative(bits, kind, top, zero_is, shown) -> None:
    dtype = np.dtype(f"<{'f' if kind == 3 else 'u'}{bits // 8}")
    values = (np.array([0, 128 / 255, 1]) * top).astype(dtype)
    greys = [
        pixel[0] for pixel in decode(tiff(values, bits=bits, zero_is=zero_is, kind=kind), **LIMITS).get_flattened_data()
    ]
    assert np.abs(np.array(greys) - shown).max() <= 1
