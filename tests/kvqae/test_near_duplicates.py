"""The difference hash: by hand, on copies of a picture and on other pictures."""

import io

import numpy as np
import pytest
from PIL import Image, ImageEnhance, ImageFilter

from stages.kvqae.images import Unreadable
from stages.kvqae.near_duplicates import BITS, ImageHashes, difference_hash, hamming
from stages.stage import BadInput
from stages.tables import Images, write_images


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
    assert difference_hash(Image.fromarray(ramp)) == 2**64 - 1
    assert difference_hash(Image.fromarray(ramp[:, ::-1])) == 0
    assert difference_hash(Image.new("RGB", (50, 20), "white")) == 0
    one = np.zeros((8, 9), np.uint8)
    one[0, 1] = 9  # grey grows from column 0 to column 1 of the first row: the first bit
    assert difference_hash(Image.fromarray(one)) == 2**63
    assert hamming(0b1011, 0b0010) == 2


@pytest.mark.parametrize("seed", range(4))
def test_copies_are_near_and_other_pictures_far(seed):
    picture = scene(seed)
    own = difference_hash(picture)
    copies = [
        picture.resize((400, 300)),
        picture.resize((61, 47)),
        picture.resize((144, 144)),
        Image.open(io.BytesIO(jpeg(picture, 20))),
        ImageEnhance.Brightness(picture).enhance(0.7),
        ImageEnhance.Contrast(picture).enhance(0.8),
        picture.filter(ImageFilter.GaussianBlur(1)),
        picture.convert("L"),
    ]
    assert max(hamming(own, difference_hash(copy)) for copy in copies) <= 6
    others = [scene(seed + 100 + other) for other in range(20)] + [picture.transpose(Image.Transpose.FLIP_LEFT_RIGHT)]
    assert min(hamming(own, difference_hash(other)) for other in others) > 12


def test_hashes_of_a_collection(tmp_path):
    picture = scene(3)
    write_images(
        tmp_path / "images", [("a.jpg", jpeg(picture, 90)), ("broken.jpg", b"\xff\xd8\xff"), ("x.svg", b"<svg/>")]
    )
    hashes = ImageHashes(Images(tmp_path / "images"), max_side=64, max_pixels=10**6)
    assert hamming(hashes.of("a.jpg"), difference_hash(picture)) <= 6 < BITS
    assert "a.jpg" in hashes
    assert "b.jpg" not in hashes
    for name in ("broken.jpg", "x.svg"):
        with pytest.raises(Unreadable):
            hashes.of(name)
    with pytest.raises(BadInput, match="no such image"):
        hashes.of("b.jpg")
