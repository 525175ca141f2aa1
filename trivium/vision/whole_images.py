"""Networks that describe whole pictures, and the preparation of pictures, by processes or on the device (kvqae.md §3).

On the device the arithmetic is Pillow's but for rounding: see `scaled`. Before the standardisation a value is at most
2/255 away from what Pillow gives, and fewer than 1 in 10 000 are more than 1/255 away.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor, nn
from torch.utils.data import default_collate
from torchvision import models, transforms
from torchvision.transforms.functional import resize

from trivium.core.arithmetic import is_portable
from trivium.core.errors import BadInput
from trivium.nets.device import autocast, halving_batches
from trivium.vision.embedder import CPU_BATCH, Embedder

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
        batch = CPU_BATCH if self._device.type == "cpu" else count
        return np.concatenate(list(halving_batches(range(count), batch, partial(self._embed, prepared))))

    def patches(self, images: Sequence[Image.Image]) -> NDArray[np.float32]:
        """What the network says of each patch of RGB pictures, (n, rows, columns, width), each of length 1.

        Raises:
            BadInput: a network without patches, or not as many in a column as in a row.
        """
        tokens = patch_tokens(self._network)
        if tokens is None:
            raise BadInput("a network without patches", file=self.path, expected="DINO's, or a ViT of timm")
        if not images:
            return np.zeros((0, 0, 0, 0), np.float32)
        batch = CPU_BATCH if self._device.type == "cpu" else len(images)
        parts = halving_batches(range(len(images)), batch, partial(self._run, tokens, self.prepare(images)))
        found = torch.cat(list(parts))
        side = math.isqrt(found.shape[1])
        if side * side != found.shape[1]:
            raise BadInput("patches that are no square", file=self.path, got=found.shape[1])
        return nn.functional.normalize(found, dim=-1).view(len(images), side, side, -1).cpu().numpy()

    def _embed(self, prepared: torch.Tensor | Packed, rows: Sequence[int]) -> NDArray[np.float32]:
        return nn.functional.normalize(self._run(self._network, prepared, rows), dim=1).cpu().numpy()

    @torch.inference_mode()
    def _run(self, network: Transform, prepared: torch.Tensor | Packed, rows: Sequence[int]) -> torch.Tensor:
        """What a network makes of some pictures, in float32."""
        span = slice(rows[0], rows[-1] + 1)
        if isinstance(prepared, Packed):
            assert self._transform is not None
            pixels = prepared_on(self._device, prepared, span, self._transform)
        else:
            pixels = prepared[span].to(self._device, non_blocking=True)
        if self._device.type == "cpu":
            blanks = pixels.new_zeros((CPU_BATCH - len(rows), *pixels.shape[1:]))
            pixels = torch.cat([pixels, blanks])
        with autocast(self._device):
            return network(pixels)[: len(rows)].float()


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


def patch_tokens(network: nn.Module) -> Transform | None:
    """The part of a network that gives its patches, (n, patches, width), without class tokens and registers.

    None where there is none: of a convolutional network, say.
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
    """(n, 3, height, width) → (n, width).

    Args:
        network: gives `pooler_output`: the first token behind the last norm; of a ConvNeXt, the mean over the map.
    """

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, pixels: Tensor) -> Tensor:
        """See the class."""
        found: Tensor = self.network(pixel_values=pixels).pooler_output
        return found
