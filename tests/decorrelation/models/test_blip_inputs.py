"""BLIP's preparation: texts and pictures worked out by hand from its public code (salesforce/BLIP, data/, transform/)."""

import numpy as np
import pytest
import torch
from PIL import Image

from trivium.decorrelation.models.blip import AUGMENTATIONS, augment, pre_caption


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('A "red" bus (No. 5): stops; it\'s LATE!', "a red bus no 5 stops it's late"),
        ("two dogs, one-eyed?  yes\n", "two dogs, one-eyed? yes"),
        (" ".join(map(str, range(40))), " ".join(map(str, range(30)))),
        ("...", ""),
    ],
)
def test_captions_are_lower_case_without_their_punctuation(text, expected):
    assert pre_caption(text) == expected


def column(values) -> Image.Image:
    """A grey picture of 40 × 40 whose rows have these values in turn."""
    rows = np.resize(np.array(values, np.uint8), 40)
    return Image.fromarray(np.repeat(np.repeat(rows[:, None, None], 40, 1), 3, 2))


def test_level_5_shifts_by_5_pixels_fills_with_grey_and_leaves_brightness():
    picture = column(range(0, 160, 4))
    plain = np.asarray(picture)
    shifted = np.asarray(AUGMENTATIONS["translate_y"](picture, 1))
    assert (shifted[:35] == plain[5:]).all()
    assert (shifted[36:] == 128).all()
    for name in ("identity", "brightness", "sharpness"):  # their factor is 1 at level 5
        assert (np.asarray(AUGMENTATIONS[name](picture, 1)) == plain).all()
    stretched = np.asarray(AUGMENTATIONS["auto_contrast"](picture, 1))
    assert (stretched.min(), stretched.max()) == (0, 255)
    sheared = np.asarray(AUGMENTATIONS["shear_y"](picture, 1)).astype(int)[:, :, 0]
    assert sheared[5, 20] == pytest.approx(plain[5 + 3, 20, 0], abs=1)  # 0.15 · 20 columns lower, 3 rows
    turned = np.asarray(AUGMENTATIONS["rotate"](Image.new("RGB", (40, 40), "white"), 1))
    assert (turned[0, 0] == 128).all()
    assert (turned[20, 20] == 255).all()


def test_two_operations_are_drawn_each_carried_out_half_of_the_time(monkeypatch):
    done: list[tuple[str, int]] = []

    def noted(name):
        return lambda image, sign: done.append((name, sign)) or image

    for name in AUGMENTATIONS:
        monkeypatch.setitem(AUGMENTATIONS, name, noted(name))
    torch.manual_seed(0)
    for _ in range(2000):
        augment(Image.new("RGB", (4, 4)))
    names, signs = zip(*done, strict=True)
    assert len(done) == pytest.approx(2000, abs=130)  # 4000 · 1/2, four standard deviations
    assert set(names) == set(AUGMENTATIONS)
    assert sum(signs) == pytest.approx(0, abs=180)
