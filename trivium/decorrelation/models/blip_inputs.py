"""What BLIP's authors do to training pictures and to captions before the network sees them (decorrelation.md §4).

Written from the list of operations and the numbers of their code, salesforce/BLIP (`transform/randaugment.py`,
`data/__init__.py`, `data/utils.py`).
"""

import re
from collections.abc import Callable

import torch
from PIL import Image, ImageEnhance, ImageOps

OPERATIONS, PROBABILITY = 2, 0.5  # drawn for a picture, with replacement, and how likely each is carried out
LEVEL = 0.5  # RandomAugment(2, 5): level 5 of 10
_FACTOR = 1.8 * LEVEL + 0.1  # of brightness and sharpness: 1 at this level, which leaves a picture as it is
_SHEAR, _SHIFT, _DEGREES = 0.3 * LEVEL, 10 * LEVEL, 30 * LEVEL  # share of a side, pixels, degrees; either way
_GREY = (128, 128, 128)  # of what comes in from outside
_MAX_WORDS = 30


def _affine(image: Image.Image, *matrix: float) -> Image.Image:
    return image.transform(
        image.size, Image.Transform.AFFINE, matrix, resample=Image.Resampling.BILINEAR, fillcolor=_GREY
    )


def _rotate(image: Image.Image, sign: int) -> Image.Image:
    return image.rotate(sign * _DEGREES, resample=Image.Resampling.BILINEAR, fillcolor=_GREY)


AUGMENTATIONS: dict[str, Callable[[Image.Image, int], Image.Image]] = {  # a picture and a sign drawn for it
    "identity": lambda image, _: image,
    "auto_contrast": lambda image, _: ImageOps.autocontrast(image),
    "brightness": lambda image, _: ImageEnhance.Brightness(image).enhance(_FACTOR),
    "sharpness": lambda image, _: ImageEnhance.Sharpness(image).enhance(_FACTOR),
    "equalize": lambda image, _: ImageOps.equalize(image),
    "shear_x": lambda image, sign: _affine(image, 1, sign * _SHEAR, 0, 0, 1, 0),
    "shear_y": lambda image, sign: _affine(image, 1, 0, 0, sign * _SHEAR, 1, 0),
    "translate_x": lambda image, sign: _affine(image, 1, 0, sign * _SHIFT, 0, 1, 0),
    "translate_y": lambda image, sign: _affine(image, 1, 0, 0, 0, 1, sign * _SHIFT),
    "rotate": _rotate,
}


def augment(image: Image.Image) -> Image.Image:
    """RandomAugment(2, 5) of an RGB picture, drawn from torch's global generator."""
    operations = list(AUGMENTATIONS.values())
    for number in torch.randint(len(operations), (OPERATIONS,)).tolist():
        carried_out, sign = torch.rand(2) < PROBABILITY
        if carried_out:
            image = operations[number](image, 1 if sign else -1)
    return image


def pre_caption(text: str) -> str:
    """A caption as BLIP reads it: lower case, `.!"()*#:;~` as spaces, 30 words at most."""
    spaced = re.sub(r"\s{2,}", " ", re.sub(r"[.!\"()*#:;~]", " ", text.lower()))
    return " ".join(spaced.rstrip("\n").strip(" ").split(" ")[:_MAX_WORDS])
