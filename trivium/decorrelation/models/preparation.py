"""From a picture of any size and mode to a network's input."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torchvision import transforms
from torchvision.transforms import InterpolationMode

IMAGENET = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
CLIP = (0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711)


class PlainPreparation:
    """What is done to a picture outside training, in two steps, so that what the first leaves can be kept.

    Args:
        steps: what is done, in its order; the last two make a tensor of an RGB picture and standardise it.
    """

    def __init__(self, steps: Sequence[Any]) -> None:
        *scaling, tensor, standardise = steps
        if not (isinstance(tensor, transforms.ToTensor) and isinstance(standardise, transforms.Normalize)):
            raise TypeError(f"a preparation that does not end in a tensor and its standardisation: {steps}")
        self._scale = transforms.Compose(scaling)
        # A tensor, as a GPU divides by a number less exactly.
        constants = 255.0, standardise.mean, standardise.std
        self._constants = [torch.tensor(each, dtype=torch.float32).view(-1, 1, 1) for each in constants]

    def scaled(self, image: Image.Image) -> NDArray[np.uint8]:
        """One picture → (h, w, 3), scaled and cropped."""
        return np.asarray(self._scale(image.convert("RGB")))

    def standardised(self, pixels: torch.Tensor) -> torch.Tensor:
        """(n, h, w, 3) as `scaled` gives them → (n, 3, h, w) float32, to the bit what all steps at once give.

        It is done where the pixels are, and nothing waits for the device.
        """
        whole, mean, deviation = (each.to(pixels.device, non_blocking=True) for each in self._constants)
        return pixels.permute(0, 3, 1, 2).contiguous().float().div_(whole).sub_(mean).div_(deviation)


class Preparation:
    """Scaling, cropping and standardisation.

    Args:
        size: side of the input in pixels.
        resize: the short side before the middle is cropped; None scales both sides to `size` and crops nothing.
        standard: mean and standard deviation of each channel.
        interpolation: of the scaling.
        smallest_crop: in training a window of at least this share of the area, its sides in a ratio of 3:4 to 4:3, is
            scaled to the input and mirrored half of the time; 1: training pictures are prepared as any others.
    """

    def __init__(
        self,
        size: int,
        *,
        resize: int | None,
        standard: tuple[Sequence[float], Sequence[float]],
        interpolation: InterpolationMode,
        smallest_crop: float,
    ) -> None:
        tensor = [transforms.ToTensor(), transforms.Normalize(*standard)]
        scaled = transforms.Resize((size, size) if resize is None else resize, interpolation)
        middle = [] if resize is None else [transforms.CenterCrop(size)]
        window = transforms.RandomResizedCrop(size, scale=(smallest_crop, 1), interpolation=interpolation)
        self.augments = smallest_crop < 1
        self._plain = transforms.Compose([scaled, *middle, *tensor])
        self.plain = PlainPreparation(self._plain.transforms)
        self._drawn = transforms.Compose([window, transforms.RandomHorizontalFlip(), *tensor])

    def __call__(self, image: Image.Image, *, training: bool) -> torch.Tensor:
        """One picture → (3, size, size); random only in training, from torch's global generator."""
        prepare = self._drawn if training and self.augments else self._plain
        pixels: torch.Tensor = prepare(image.convert("RGB"))
        return pixels
