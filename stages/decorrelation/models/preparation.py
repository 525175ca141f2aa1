"""From a picture of any size and mode to a network's input."""

from collections.abc import Sequence

import torch
from PIL import Image
from torchvision import transforms
from torchvision.transforms import InterpolationMode

IMAGENET = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
CLIP = (0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711)


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
        self._drawn = transforms.Compose([window, transforms.RandomHorizontalFlip(), *tensor])

    def __call__(self, image: Image.Image, *, training: bool) -> torch.Tensor:
        """One picture → (3, size, size); random only in training, from torch's global generator."""
        prepare = self._drawn if training and self.augments else self._plain
        pixels: torch.Tensor = prepare(image.convert("RGB"))
        return pixels
