"""Pictures scaled, cropped and standardised where they are encoded, so that processes only decode them (kvqae.md §3).

The arithmetic is Pillow's but for rounding: see `scaled`. Before the standardisation a value is at most 2/255 away from
what Pillow gives, and fewer than 1 in 10 000 are more than 1/255 away.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torchvision import transforms
from torchvision.transforms.functional import resize

from trivium.core.arithmetic import is_portable

Transform = Callable[[torch.Tensor], torch.Tensor]


class Packed(NamedTuple):
    """RGB pictures of any size in one tensor: one piece of shared memory, one copy to a device.

    Attributes:
        pixels: uint8, of all pictures, (height, width, 3) each, one after the other.
        sizes: (n, 2), height and width of each.
    """

    pixels: torch.Tensor
    sizes: NDArray[np.int64]


def device_prepares(device: torch.device) -> bool:
    """Whether pictures are prepared on this device: a GPU where `run.portable` allows other arithmetic, as for bf16."""
    return device.type == "cuda" and not is_portable()


def pack(pictures: Sequence[Image.Image]) -> Packed:
    """One or more RGB pictures as they are."""
    arrays = [np.asarray(picture) for picture in pictures]
    pixels = torch.from_numpy(np.concatenate([each.ravel() for each in arrays]))
    return Packed(pixels, np.array([each.shape[:2] for each in arrays]))


def prepared_on(device: torch.device, packed: Packed, rows: slice, transform: Transform) -> torch.Tensor:
    """A network's input, (n, 3, size, size), on this device; pictures of equal size go through it together.

    Args:
        device: where it is prepared.
        packed: pictures, in memory of the CPU.
        rows: which of them.
        transform: (n, 3, height, width) uint8 → (n, 3, size, size).
    """
    ends = np.concatenate([[0], np.cumsum(3 * packed.sizes.prod(axis=1))])
    sizes = packed.sizes[rows].tolist()
    first, last = ends[:-1][rows][0], ends[1:][rows][-1]
    pixels = packed.pixels[first:last].to(device, non_blocking=True)
    pictures = pixels.split([3 * height * width for height, width in sizes])
    same: dict[tuple[int, int], list[int]] = defaultdict(list)
    for place, (height, width) in enumerate(sizes):
        same[height, width].append(place)
    parts = [
        transform(torch.stack([pictures[place].view(*size, 3) for place in places]).permute(0, 3, 1, 2).contiguous())
        for size, places in same.items()
    ]
    order = np.argsort([place for places in same.values() for place in places])
    return torch.cat(parts)[torch.from_numpy(order).to(device)]


def on_tensors(preparation: transforms.Compose) -> Transform:
    """What a preparation of Pillow's pictures does, of tensors on any device.

    Args:
        preparation: any of torchvision's `Resize` and `CenterCrop`, then `ToTensor` and `Normalize`; other steps do
            nothing to tensors.
    """
    *steps, _, standardise = preparation.transforms

    def transform(pixels: torch.Tensor) -> torch.Tensor:
        for step in steps:
            pixels = scaled(pixels, step) if isinstance(step, transforms.Resize) else step(pixels)
        standardised: torch.Tensor = standardise(pixels.float().div_(255))
        return standardised

    return transform


def scaled(pixels: torch.Tensor, step: transforms.Resize) -> torch.Tensor:
    """Scale (n, 3, height, width) uint8 along one side, then along the other, rounded in between, as Pillow does.

    The order matters, as what overshoots black and white is cut off in between: Pillow 13 begins with the height if it
    loses more than twice what the width does, else with the width.
    """
    height, width = pixels.shape[-2:]
    sides = step.size
    if isinstance(sides, int):
        short = min(height, width)
        sides = [int(step.size * side / short) for side in (height, width)]
    height_first = height - sides[0] > max(0, 2 * (width - sides[1]))
    for size in ([sides[0], width] if height_first else [height, sides[1]], list(sides)):
        pixels = resize(pixels, size, step.interpolation, antialias=True)
    return pixels
