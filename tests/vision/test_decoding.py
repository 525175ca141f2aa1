import contextlib
import io
import struct
import zlib

import numpy as np
import pytest
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from trivium.vision.decoding import Unreadable, decode, decode_picture

LIMITS = {"max_side": 64, "max_pixels": 1_000_000}


def encoded(image: Image.Image, kind: str = "PNG", **options: object) -> bytes:
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def png_header(width: int, height: int) -> bytes:
    """A PNG that says how large it is, and holds nothing."""
    chunks = [b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0), b"IDAT"]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(chunk) - 4) + chunk + struct.pack(">I", zlib.crc32(chunk)) for chunk in chunks
    )


def noise(width: int, height: int) -> Image.Image:
    return Image.fromarray(np.random.default_rng(0).integers(0, 256, (height, width, 3), dtype=np.uint8))


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


def test_palette_with_a_transparent_colour() -> None:
    source = Image.new("P", (4, 3), 1)
    source.putpalette([0, 0, 0, 200, 100, 50])
    assert set(decode(encoded(source, transparency=1), **LIMITS).get_flattened_data()) == {(255, 255, 255)}


def test_cmyk_jpeg() -> None:
    image = decode(encoded(Image.new("CMYK", (16, 16), (0, 255, 255, 0)), "JPEG", quality=95), **LIMITS)
    red, green, blue = image.getpixel((8, 8))
    assert red > 200
    assert max(green, blue) < 60


@pytest.mark.parametrize(
    ("orientation", "corner"),  # where the stored top left pixel belongs: columns, rows of a 2 × 3 picture
    [(1, (0, 0)), (2, (1, 0)), (3, (1, 2)), (4, (0, 2)), (5, (0, 0)), (6, (1, 0)), (7, (1, 2)), (8, (0, 2))],
)
def test_exif_orientation(orientation: int, corner: tuple[int, int]) -> None:
    stored = Image.new("RGB", (2, 3) if orientation < 5 else (3, 2))
    stored.putpixel((0, 0), (255, 0, 0))
    exif = Image.Exif()
    exif[0x0112] = orientation
    image = decode(encoded(stored, exif=exif), **LIMITS)
    assert image.size == (2, 3)
    assert image.getpixel(corner) == (255, 0, 0)


def exif_block(orientation: int) -> bytes:
    exif = Image.Exif()
    exif[0x0112] = orientation
    exif[0x011A] = 72.0  # its value lies behind the directory
    return exif.tobytes()


@pytest.mark.parametrize("options", [{"kind": "PNG"}, {"kind": "JPEG"}, {"kind": "JPEG", "dpi": (72, 72)}])
@pytest.mark.parametrize(
    "block",
    [
        b"Exif\x00\x00" + b"\xff" * 40,  # no TIFF header
        exif_block(6)[:10],  # cut in the header: opening a JPEG without dpi hides the error
        exif_block(6)[:20],  # in the directory, before the orientation: Pillow only warns
        exif_block(6).replace(b"\x01\x12\x00\x03", b"\x01\x12\x00\x02"),  # a text
    ],
)
def test_broken_exif_keeps_the_picture_and_is_told(block: bytes, options: dict[str, object]) -> None:
    data = encoded(noise(8, 6), exif=block, **options)
    picture = decode_picture(data, **LIMITS)
    assert picture.broken_exif
    assert np.array_equal(picture.image, decode(encoded(noise(8, 6), **options), **LIMITS))
    assert np.array_equal(picture.image, decode(data, **LIMITS))


def test_a_broken_raw_profile_is_told() -> None:
    text = PngInfo()
    text.add_text("Raw profile type exif", "\nexif\n      4\nnot hexadecimal")
    assert decode_picture(encoded(noise(8, 6), pnginfo=text), **LIMITS).broken_exif


def test_what_breaks_after_the_orientation_does_not_matter() -> None:
    picture = decode_picture(encoded(noise(8, 6), "JPEG", exif=exif_block(6)[:-4]), **LIMITS)
    assert (picture.image.size, picture.broken_exif) == ((6, 8), False)


def test_whole_exif_and_none_are_not_broken() -> None:
    for options in ({}, {"exif": exif_block(1)}, {"exif": Image.Exif()}):
        for kind in ("PNG", "JPEG", "WEBP", "TIFF"):
            whole = decode_picture(encoded(noise(8, 6), kind, **options), **LIMITS)
            assert (whole.image.size, whole.broken_exif) == ((8, 6), False)


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
def test_broken_files_have_a_reason(kind: str) -> None:
    data = encoded(noise(40, 30), kind)
    reasons = {}
    for name, broken in {
        "empty": b"",
        "text": b"<html>404</html>",
        "truncated": data[: len(data) // 2],
        "head only": data[:30],
    }.items():
        with pytest.raises(Unreadable) as error:
            decode(broken, **LIMITS)
        reasons[name] = error.value.reason
    assert reasons["empty"] == reasons["text"] == "not_an_image"
    assert reasons["truncated"] == "corrupt"
    assert reasons["head only"] in ("corrupt", "not_an_image")


def test_bit_flips_never_raise_anything_else() -> None:
    rng = np.random.default_rng(1)
    for kind in ("PNG", "JPEG", "GIF", "WEBP", "TIFF"):
        data = encoded(noise(24, 24), kind)
        for _ in range(40):
            broken = bytearray(data)
            for position in rng.integers(0, len(data), 5):
                broken[position] = rng.integers(0, 256)
            with contextlib.suppress(Unreadable):
                assert decode(bytes(broken), **LIMITS).mode == "RGB"


def test_sizes_from_one_pixel_to_twenty_thousand() -> None:
    assert decode(encoded(Image.new("RGB", (1, 1))), **LIMITS).size == (1, 1)
    assert decode(encoded(noise(64, 10)), **LIMITS).size == (64, 10)
    assert decode(encoded(noise(128, 32)), **LIMITS).size == (64, 16)
    assert decode(encoded(Image.new("L", (20_000, 40))), **LIMITS).size == (64, 1)
    for bomb in (png_header(20_000, 20_000), png_header(1_000, 1_001)):
        with pytest.raises(Unreadable, match="too_large"):
            decode(bomb, **LIMITS)


def test_a_large_jpeg_is_decoded_at_a_fraction() -> None:
    data = encoded(Image.new("L", (20_000, 400), 90), "JPEG")  # 8 M pixels, at 1/8 below a million
    image = decode(data, **LIMITS)
    assert image.size == (64, 1)
    assert abs(image.getpixel((32, 0))[0] - 90) <= 1
    with pytest.raises(Unreadable, match="too_large"):
        decode(encoded(Image.new("L", (20_000, 400))), **LIMITS)


def test_an_animation_gives_its_first_frame() -> None:
    frames = [Image.new("RGB", (4, 4), colour) for colour in ("red", "blue")]
    data = encoded(frames[0], "GIF", save_all=True, append_images=frames[1:])
    assert decode(data, **LIMITS).getpixel((0, 0)) == (255, 0, 0)
