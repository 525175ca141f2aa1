"""Fillings that need no other environment: baselines to in-painting (decorrelation.md §1), and what all fillings share.

Pictures are (height, width, 3) RGB, 8 bits; a mask is boolean (height, width), true where the picture is painted.
"""

from collections.abc import Callable
from typing import Literal, get_args

import cv2
import numpy as np
from numpy.typing import NDArray

from trivium.decorrelation.painting.frames import Pixels
from trivium.formats.masks import Mask

Filling = Literal["none", "zero", "mean", "blur", "cv2", "lama"]
FILLINGS: tuple[Filling, ...] = get_args(Filling)


def zero(picture: Pixels, mask: Mask) -> Pixels:
    """Black."""
    return np.zeros_like(picture)


def mean(picture: Pixels, mask: Mask) -> Pixels:
    """The mean colour of what goes: Σ_{p ∈ mask} x_p / |mask|, rounded."""
    colour: NDArray[np.float64] = picture[mask].mean(axis=0)
    return np.broadcast_to(np.rint(colour).astype(np.uint8), picture.shape)


def blur(picture: Pixels, mask: Mask, sigma: float) -> Pixels:
    """The picture under a Gaussian: the object is unrecognisable, its colour stays.

    Args:
        picture, mask: see above.
        sigma: standard deviation of the Gaussian as a share of the picture's longer side.
    """
    return np.asarray(cv2.GaussianBlur(picture, (0, 0), sigma * max(picture.shape[:2])), np.uint8)


BASELINES: dict[str, Callable[..., Pixels]] = {"zero": zero, "mean": mean, "blur": blur}


def dilated(mask: Mask, pixels: int) -> Mask:
    """The mask grown by a square of `pixels` to every side."""
    side = 2 * pixels + 1
    return cv2.dilate(mask.astype(np.uint8), np.ones((side, side), np.uint8)).astype(bool)


def composite(picture: Pixels, painted: Pixels, mask: Mask) -> Pixels:
    """The painted pixels within the mask, the picture's own, bit for bit, everywhere else."""
    return np.where(mask[:, :, None], painted, picture)
