"""VGG (Simonyan & Zisserman 2015) with torchvision's names of the weights, in any width."""

from collections.abc import Sequence
from typing import cast

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint_sequential
from torchvision.models.vgg import cfgs, make_layers

TORCHVISION = {"vgg11": "A", "vgg13": "B", "vgg16": "D", "vgg19": "E"}  # its names of the rows of VGG's table 1
GRID, HIDDEN = 7, 4096


def channels_of(architecture: str) -> list[str | int]:
    """The convolutions of one of torchvision's VGGs: channels, and `M` for a max-pooling."""
    return list(cfgs[TORCHVISION[architecture]])


class Vgg(nn.Module):
    """Convolutions and three fully connected layers; the last one classifies and can be left out.

    Args:
        channels: of the 3×3 convolutions in order, with `M` for a max-pooling of 2×2.
        grid: side of the map that the average pooling makes for the fully connected layers (VGG: 7).
        hidden: width of the fully connected layers (VGG: 4096).
        classes: of the classifier; None leaves it out.
        dropout: of the features, before the classifier if there is one.

    Attributes:
        width: size of a feature vector, `hidden`.
        checkpointing: compute the convolutions' activations again in the backward pass instead of keeping them.
    """

    def __init__(
        self, channels: Sequence[str | int], *, grid: int, hidden: int, classes: int | None, dropout: float = 0.5
    ) -> None:
        super().__init__()
        self.features = make_layers(cast(list[str | int], list(channels)))
        self.avgpool = nn.AdaptiveAvgPool2d(grid)
        last = next(each for each in reversed(channels) if isinstance(each, int))
        fully = [nn.Linear(last * grid * grid, hidden), nn.ReLU(), nn.Dropout(), nn.Linear(hidden, hidden), nn.ReLU()]
        classifier = [] if classes is None else [nn.Linear(hidden, classes)]
        self.classifier = nn.Sequential(*fully, nn.Dropout(dropout), *classifier)
        self.width = hidden
        self.checkpointing = False

    def forward(self, pixels: Tensor) -> Tensor:
        """(n, 3, h, w) → (n, hidden), or (n, classes) with the classifier."""
        pixels = pixels.contiguous(memory_format=torch.channels_last)  # a step takes half as long on a processor
        if self.checkpointing and self.training:
            blocks = sum(isinstance(layer, nn.MaxPool2d) for layer in self.features)
            maps = checkpoint_sequential(self.features, max(1, blocks), pixels, use_reentrant=False)
        else:
            maps = self.features(pixels)
        features: Tensor = self.classifier(self.avgpool(maps).flatten(1))
        return features
