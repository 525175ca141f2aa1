"""The difference hash: by hand, on copies of a picture and on other pictures."""

import io

import numpy as np
import pytest
from PIL import Image, ImageEnhance, ImageFilter

from trivium.core.errors import BadInput
from trivium.core.image_shards import Images, write_images
from trivium.kvqae.construction.candidate_images import (
    BITS,
    MAX_GREY,
    Fingerprints,
    fingerprint,
    hamming,
    near_duplicates,
)
from trivium.vision.decoding import Unreadable


def scene(seed, size=(144, 108)):
    """A smooth random picture."""
    small = np.random.default_rng(seed).integers(0, 256, (8, 9, 3), dtype=np.uint8)
    return Image.fromarray(small).resize(size, Image.Resampling.BICUBIC)


def jpeg(picture, quality):
    data = io.BytesIO()
    picture.save(data, "jpeg", quality=quality)
    return data.getvalue()


def test_by_hand():
    ramp = np.tile(np.arange(9, dtype=np.uint8) * 20, (8, 1))
    assert fingerprint(Image.fromarray(ramp)).bits == 2**64 - 1
    assert fingerprint(Image.fromarray(ramp[:, ::-1])).bits == 0
    assert fingerprint(Image.new("RGB", (50, 20), "white")).bits == 0
    one = np.zeros((8, 9), np.uint8)
    one[0, 1] = 9  # grey grows from column 0 to column 1 of the first row: the first bit
    assert fingerprint(Image.fromarray(one)).bits == 2**63
    assert hamming(0b1011, 0b0010) == 2


@pytest.mark.parametrize("seed", range(4))
def test_copies_are_near_and_other_pictures_far(seed):
    picture = scene(seed)
    own = fingerprint(picture)
    copies = [
        picture.resize((400, 300)),
        picture.resize((61, 47)),
        picture.resize((144, 144)),
        Image.open(io.BytesIO(jpeg(picture, 20))),
        ImageEnhance.Brightness(picture).enhance(0.85),
        ImageEnhance.Brightness(picture).enhance(1.15),
        ImageEnhance.Contrast(picture).enhance(0.8),
        picture.filter(ImageFilter.GaussianBlur(1)),
        picture.convert("L"),
    ]
    assert all(near_duplicates(own, fingerprint(copy), 6) for copy in copies)
    others = [scene(seed + 100 + other) for other in range(20)] + [picture.transpose(Image.Transpose.FLIP_LEFT_RIGHT)]
    assert min(hamming(own.bits, fingerprint(other).bits) for other in others) > 12


def flag(*colours):
    picture = Image.new("RGB", (90, 60))
    for place, colour in enumerate(colours):
        picture.paste(colour, (0, 20 * place, 90, 20 * place + 20))
    return picture


def logo(size=(90, 60)):
    picture = Image.new("RGB", (90, 60), "white")
    picture.paste((250, 245, 250), (30, 20, 60, 40))
    return picture.resize(size)


def test_unlike_flat_pictures_are_no_duplicates():
    """Hashes of pictures without a slope agree, whatever they show."""
    pictures = [flag("red", "white", "blue"), flag("black", "red", "gold"), logo(), Image.new("RGB", (90, 60), "black")]
    prints = [fingerprint(picture) for picture in pictures]
    for place, own in enumerate(prints):
        for other in prints[:place]:
            assert hamming(own.bits, other.bits) <= 8
            assert not near_duplicates(own, other, 8)
    assert near_duplicates(prints[0], fingerprint(flag("red", "white", "blue").resize((45, 30))), 0)
    assert near_duplicates(prints[2], fingerprint(logo((45, 30))), 8)


def test_grey_values_differ_by_the_bound_at_most():
    grey = [fingerprint(Image.new("L", (9, 8), value)) for value in (100, 100 + int(MAX_GREY), 101 + int(MAX_GREY))]
    assert near_duplicates(grey[0], grey[1], 0)
    assert not near_duplicates(grey[0], grey[2], 0)


def test_hashes_of_a_collection(tmp_path):
    picture = scene(3)
    write_images(
        tmp_path / "images", [("a.jpg", jpeg(picture, 90)), ("broken.jpg", b"\xff\xd8\xff"), ("x.svg", b"<svg/>")]
    )
    hashes = Fingerprints(Images(tmp_path / "images"), max_side=64, max_pixels=10**6)
    assert hamming(hashes.of("a.jpg").bits, fingerprint(picture).bits) <= 6 < BITS
    assert "a.jpg" in hashes
    assert "b.jpg" not in hashes
    assert hashes.flawed["broken_exif"] == set()
    for name in ("broken.jpg", "x.svg"):
        with pytest.raises(Unreadable):
            hashes.of(name)
    with pytest.raises(BadInput, match="no such image"):
        hashes.of("b.jpg")


def test_broken_exif_blocks_are_named(tmp_path):
    out = io.BytesIO()
    scene(3).save(out, "JPEG", exif=b"Exif\x00\x00" + b"\xff" * 40)
    write_images(tmp_path / "images", [("a.jpg", out.getvalue()), ("b.jpg", jpeg(scene(3), 90))])
    hashes = Fingerprints(Images(tmp_path / "images"), max_side=64, max_pixels=10**6)
    assert all(hamming(hashes.of(name).bits, fingerprint(scene(3)).bits) <= 6 for name in ("a.jpg", "b.jpg"))
    assert hashes.flawed["broken_exif"] == {"a.jpg"}
