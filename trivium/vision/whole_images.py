"""Networks that describe whole pictures, and what their encoders share (kvqae.md §3)."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import nn
from torch.utils.data import default_collate
from torchvision import models

from trivium.nets.device import autocast, halving_batches
from trivium.vision.device_transforms import Packed, Transform, device_prepares, pack, prepared_on
from trivium.vision.embedder import Embedder

MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # of ImageNet, what torchvision's ResNets expect
WIDEST = 8  # longer to shorter side; the encoders look at the central square only


class PictureEmbedder(Embedder):
    """A network that describes images, and the preparation of its input.

    Args:
        path: where it was loaded from, for messages.
        network: (n, 3, size, size) → (n, dimension).
        prepare: one RGB picture → (3, size, size).
        device: where the network runs, in bf16 on a GPU.
        transform: the same as `prepare`, of (n, 3, height, width) tensors, where pictures can be prepared on a GPU.

    Attributes:
        dimension: of an embedding.
    """

    def __init__(
        self,
        path: Path,
        network: nn.Module,
        prepare: Callable[[Image.Image], torch.Tensor],
        device: torch.device,
        transform: Transform | None = None,
    ) -> None:
        self.path = path
        self._transform = transform if device_prepares(device) else None
        self._network = network.eval().requires_grad_(False).to(device)
        self._prepare = prepare
        self._device = device
        self.dimension = self([Image.new("RGB", (8, 8))]).shape[1]

    @property
    def packs(self) -> bool:
        """Whether `prepare` only packs pictures, which the device then prepares: all such encoders have one input."""
        return self._transform is not None

    def prepare(self, images: Sequence[Image.Image]) -> torch.Tensor | Packed:
        """RGB pictures as the network's input, (n, 3, size, size); packed where the device makes it of them."""
        if not images:
            return torch.empty(0)
        if self.packs:
            return pack([_centre(image) for image in images])
        prepared: torch.Tensor = default_collate([self._prepare(_centre(image)) for image in images])
        return prepared  # in a feed's process straight into memory that is shared

    def embed(self, prepared: torch.Tensor | Packed) -> NDArray[np.float32]:
        """Embed what `prepare` gave; returns (n, dimension), each of length 1."""
        count = len(prepared.sizes if isinstance(prepared, Packed) else prepared)
        if not count:
            return np.zeros((0, self.dimension), np.float32)
        return np.concatenate(list(halving_batches(range(count), count, partial(self._embed, prepared))))

    @torch.inference_mode()
    def _embed(self, prepared: torch.Tensor | Packed, rows: Sequence[int]) -> NDArray[np.float32]:
        span = slice(rows[0], rows[-1] + 1)
        if isinstance(prepared, Packed):
            assert self._transform is not None
            pixels = prepared_on(self._device, prepared, span, self._transform)
        else:
            pixels = prepared[span].to(self._device, non_blocking=True)
        with autocast(self._device):
            embeddings = self._network(pixels)
        return nn.functional.normalize(embeddings.float(), dim=1).cpu().numpy()


def _centre(image: Image.Image) -> Image.Image:
    """The middle of a strip: scaling the short side of 1024×1 to 224 would make a row of 229 376 pixels."""
    width, height = image.size
    longest = WIDEST * min(width, height)
    if max(width, height) <= longest:
        return image
    left, top = max(0, width - longest) // 2, max(0, height - longest) // 2
    return image.crop((left, top, width - left, height - top))


class MaxPooled(nn.Module):
    """A torchvision ResNet up to its last convolutional map (n, d, h, w); the maximum over positions, (n, d)."""

    def __init__(self, resnet: models.ResNet) -> None:
        super().__init__()
        self.convolutions = nn.Sequential(*list(resnet.children())[:-2])

    def forward(self, pixels: torch.Tensor) -> torch.Tensor:
        """(n, 3, size, size) → (n, d)."""
        return self.convolutions(pixels).amax(dim=(2, 3))
