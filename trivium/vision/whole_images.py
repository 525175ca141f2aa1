"""Networks that embed whole pictures, and the preparation of their input (kvqae.md §3)."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor, nn
from torch.utils.data import default_collate
from torchvision import models

from trivium.core.errors import BadInput
from trivium.nets.device import autocast, halving_batches
from trivium.vision.image_encoder import CPU_BATCH, Embedder

Transform = Callable[[Tensor], Tensor]


MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # of ImageNet, which torchvision's ResNets expect
WIDEST = 8  # largest ratio of longer to shorter side; encoders crop the central square anyway


class PictureEmbedder(Embedder):
    """A network that embeds pictures, and the preparation of its input.

    Args:
        path: where it was loaded from, for messages.
        network: (n, 3, size, size) → (n, dimension).
        prepare: one RGB picture → (3, size, size).
        device: where the network runs, in bf16 on a GPU.
    """

    def __init__(
        self,
        path: Path,
        network: nn.Module,
        prepare: Callable[[Image.Image], Tensor],
        device: torch.device,
    ) -> None:
        self.path = path
        self._network = network.eval().requires_grad_(False).to(device)
        self._prepare = prepare
        self._device = device
        self.dimension = self([Image.new("RGB", (8, 8))]).shape[1]

    def prepare(self, images: Sequence[Image.Image]) -> Tensor:
        """Convert RGB pictures to the network's input, (n, 3, size, size)."""
        if not images:
            return torch.empty(0)
        prepared: Tensor = default_collate([self._prepare(_centre(image)) for image in images])
        return prepared  # a process of a feed writes it directly into shared memory

    def embed(self, prepared: Tensor) -> NDArray[np.float32]:
        """Embed what `prepare` gave; returns (n, dimension), each of length 1."""
        if not len(prepared):
            return np.zeros((0, self.dimension), np.float32)
        return self._describe(self._network, prepared)

    def patches(self, images: Sequence[Image.Image]) -> NDArray[np.float32]:
        """Embed each patch of RGB pictures, (n, rows, columns, width), each of length 1.

        Raises:
            BadInput: a network without patches, or whose patches do not form a square.
        """
        tokens = patch_tokens(self._network)
        if tokens is None:
            raise BadInput("a network without patches", file=self.path, expected="DINO's, or a ViT of timm")
        if not images:
            return np.zeros((0, 0, 0, 0), np.float32)
        vectors = self._describe(tokens, self.prepare(images))
        side = math.isqrt(vectors.shape[1])
        if side * side != vectors.shape[1]:
            raise BadInput("patches do not form a square", file=self.path, got=vectors.shape[1])
        return vectors.reshape(len(images), side, side, -1)

    def _describe(self, network: Transform, prepared: Tensor) -> NDArray[np.float32]:
        """Run a network on pictures and scale its output to length 1."""
        batch = CPU_BATCH if self._device.type == "cpu" else len(prepared)
        describe = partial(self._describe_batch, network)
        return np.concatenate(list(halving_batches(prepared, batch, describe)))  # type: ignore[arg-type]

    @torch.inference_mode()
    def _describe_batch(self, network: Transform, prepared: Tensor) -> NDArray[np.float32]:
        pixels = prepared.to(self._device, non_blocking=True)
        if self._device.type == "cpu":
            blanks = pixels.new_zeros((CPU_BATCH - len(pixels), *pixels.shape[1:]))
            pixels = torch.cat([pixels, blanks])
        with autocast(self._device):
            vectors = network(pixels)[: len(prepared)].float()
        return nn.functional.normalize(vectors, dim=-1).cpu().numpy()


def _centre(image: Image.Image) -> Image.Image:
    """Crop the middle of a strip: scaling the short side of 1024×1 to 224 would make a row of 229 376 pixels."""
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

    def forward(self, pixels: Tensor) -> Tensor:
        """(n, 3, size, size) → (n, d)."""
        return self.convolutions(pixels).amax(dim=(2, 3))


def patch_tokens(network: nn.Module) -> Transform | None:
    """Return a function from pixels to patch tokens (n, patches, width), without class tokens and registers.

    None where the network has none, such as a convolutional one.
    """
    if isinstance(network, FirstToken):
        dino = network.network
        before = 1 + getattr(dino.config, "num_register_tokens", 0)
        return lambda pixels: dino(pixel_values=pixels).last_hidden_state[:, before:]
    trunk: Any = getattr(network, "trunk", None)
    if not hasattr(trunk, "num_prefix_tokens"):
        return None
    return lambda pixels: trunk.forward_features(pixels)[:, trunk.num_prefix_tokens :]


class FirstToken(nn.Module):
    """Wrap a network so that it returns its pooled output: (n, 3, height, width) → (n, width).

    Args:
        network: has `pooler_output`: the first token after the last norm; of a ConvNeXt, the mean over the map. None:
            the first token is taken here.
    """

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, pixels: Tensor) -> Tensor:
        """Run the network."""
        output = self.network(pixel_values=pixels)
        states: Tensor | None = output.pooler_output
        return output.last_hidden_state[:, 0] if states is None else states
