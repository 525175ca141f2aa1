"""What is opened at all, and what comes of it: upright RGB pictures, or a reason."""

import contextlib
import io
import struct
import zlib
from collections import Counter

import numpy as np
import pytest
from PIL import EpsImagePlugin, Image

from trivium.sources.decorrelation.corpora import fit_images
from trivium.vision.decoding import (
    FORMATS,
    JPEG_PIXELS,
    PIXELS,
    Unreadable,
    decode,
    decode_picture,
    open_picture,
)

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
    assert picture.flaws == ("broken_exif",)
    assert np.array_equal(picture.image, decode(encoded(noise(8, 6), **options), **LIMITS))
    assert np.array_equal(picture.image, decode(data, **LIMITS))


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


def test_a_large_jpeg_is_decoded_at_a_fraction() -> None:
    data = encoded(Image.new("L", (20_000, 400), 90), "JPEG")  # 8 M pixels, at 1/8 below a million
    image = decode(data, **LIMITS)
    assert image.size == (64, 1)
    assert abs(image.getpixel((32, 0))[0] - 90) <= 1
    with pytest.raises(Unreadable, match="too_large"):
        decode(encoded(Image.new("L", (20_000, 400))), **LIMITS)


def jpeg_header(width: int, height: int) -> bytes:
    """A JPEG that says how large it is; its pixels are those of a small one."""
    data = bytearray(encoded(Image.new("L", (16, 16)), "JPEG"))
    frame = data.index(b"\xff\xc0")
    data[frame + 5 : frame + 9] = struct.pack(">HH", height, width)
    return bytes(data)


@pytest.mark.parametrize("kind", ["EPS", "PPM", "TGA", "ICO", "JPEG2000", "PCX", "PDF"])
def test_other_formats_are_not_looked_at(kind: str) -> None:
    with pytest.raises(Unreadable) as error:
        decode(encoded(noise(40, 30), kind), **LIMITS)
    assert error.value.reason == "not_an_image"


def test_the_header_decides_before_anything_is_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = {"max_side": 1024, "max_pixels": 10**12}
    webp = encoded(Image.new("1", (5_000, 4_001)), "WEBP", method=0)
    bombs = jpeg_header(10_001, 10_000), png_header(8_000, 5_001), webp
    monkeypatch.setattr(Image.Image, "load", None)
    for bomb in bombs:
        with pytest.raises(Unreadable, match="too_large"):
            decode(bomb, **limits)
    assert JPEG_PIXELS == 10_000 * 10_000
    assert PIXELS == 8_000 * 5_000


def test_a_long_jpeg_is_decoded_at_a_fraction_too() -> None:
    data = encoded(Image.new("L", (65_000, 700), 90), "JPEG")  # both ways it has no 1024 pixels at 1/2
    assert decode(data, max_side=1024, max_pixels=10**8).size == (1024, 11)


def smooth(width: int, height: int) -> Image.Image:
    return noise(width // 8, height // 8).resize((width, height), Image.Resampling.BICUBIC)


@pytest.mark.parametrize("options", [{}, {"restart_marker_rows": 1}, {"progressive": True}, {"subsampling": 0}])
@pytest.mark.parametrize("mode", ["RGB", "L", "CMYK"])
def test_a_jpeg_that_lacks_its_last_bytes_is_read_and_told(mode: str, options: dict[str, object]) -> None:
    data = encoded(smooth(240, 160).convert(mode), "JPEG", quality=90, **options)
    whole = np.asarray(decode(data, max_side=240, max_pixels=10**6), int)
    for lacking in (1, 2, 20, len(data) // 20):
        picture = decode_picture(data[:-lacking], max_side=240, max_pixels=10**6)
        assert picture.flaws == ("truncated",)
        assert (np.abs(np.asarray(picture.image, int) - whole).max(axis=-1) < 30).mean() > 0.85
    if "progressive" not in options:  # of these a quarter of the bytes shows all, less sharp
        for share in (0.25, 0.5, 0.7):
            with pytest.raises(Unreadable, match="corrupt"):
                decode(data[: int(len(data) * share)], **LIMITS)


def test_what_surrounds_the_pixels_is_bounded() -> None:
    """A huge profile, and a file that is two."""
    assert decode(encoded(noise(8, 6), "JPEG", icc_profile=bytes(3_000_000)), **LIMITS).size == (8, 6)
    script = b"<script>alert(1)</script>"
    assert decode(encoded(noise(8, 6), "JPEG") + script, **LIMITS).size == (8, 6)
    with pytest.raises(Unreadable, match="not_an_image"):
        decode(script + encoded(noise(8, 6), "JPEG"), **LIMITS)
    pages = encoded(noise(8, 6), "TIFF", save_all=True, append_images=[noise(5, 5)] * 200)
    assert decode(pages, **LIMITS).size == (8, 6)


NOISE_SIZE = (40, 30)


def encoded_noise(kind: str) -> bytes:
    buffer = io.BytesIO()
    Image.effect_noise(NOISE_SIZE, 50).convert("RGB").save(buffer, kind)
    return buffer.getvalue()


@pytest.mark.parametrize("kind", FORMATS)
def test_named_formats_are_as_pillow_has_them(kind: str) -> None:
    data = encoded_noise(kind)
    assert open_picture(data).format == kind
    assert open_picture(data).convert("RGB").tobytes() == Image.open(io.BytesIO(data)).convert("RGB").tobytes()


def test_ghostscript_is_not_asked_for_an_eps_of_another_name(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    monkeypatch.setattr(EpsImagePlugin, "Ghostscript", lambda *given, **_: asked.append(given))
    counts, unreadable = Counter(), []
    assert (
        list(fit_images(iter([("x.jpg", encoded_noise("EPS"))]), {"x.jpg": NOISE_SIZE}, counts, unreadable, "images"))
        == []
    )
    assert (asked, counts["images_unreadable"], unreadable) == ([], 1, ["x.jpg"])


def test_zeros_at_the_end_of_a_jpeg_are_no_pixels():
    whole = encoded(Image.effect_noise((200, 200), 60).convert("RGB"), "JPEG")
    limits = {"max_side": 200, "max_pixels": 1_000_000}
    assert decode_picture(whole + bytes(5000), **limits).flaws == ()
    assert decode_picture(whole[:-300] + bytes(300), **limits).flaws == ("truncated",)
    half = len(whole) // 2
    with pytest.raises(Unreadable, match="corrupt"):
        decode_picture(whole[:half] + bytes(half), **limits)
