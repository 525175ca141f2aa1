"""The difference hash: by hand, on copies of a picture and on other pictures."""

import io

import numpy as np
import pytest
from PIL import Image, ImageEnhance, ImageFilter

from trivium.kvqae.construction.candidate_images import BITS, fingerprint, hash_distance, near_duplicates


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
    rising, falling, flat = (fingerprint(Image.fromarray(grey)) for grey in (ramp, ramp[:, ::-1], 0 * ramp))
    assert hash_distance(rising, falling) == hash_distance(rising, flat) == BITS
    assert hash_distance(falling, flat) == 0  # no grey grows
    one = np.zeros((8, 9), np.uint8)
    one[0, 1] = 9  # grey grows from column 0 to column 1 of the first row
    assert hash_distance(fingerprint(Image.fromarray(one)), flat) == 1


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
    assert min(hash_distance(own, fingerprint(other)) for other in others) > 12


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
            assert hash_distance(own, other) <= 8
            assert not near_duplicates(own, other, 8)
    assert near_duplicates(prints[0], fingerprint(flag("red", "white", "blue").resize((45, 30))), 0)
    assert near_duplicates(prints[2], fingerprint(logo((45, 30))), 8)
