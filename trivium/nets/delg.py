"""DELG: one network for global and local features (kvqae.md §4; Cao et al. 2020).

A ResNet's last map, pooled by a generalised mean and whitened by a linear layer, is the global descriptor. The map one
stage earlier (conv4) gives the local ones: an attention head scores its positions, the encoder of an autoencoder
reduces 1 024 channels to 128.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional
from torchvision import models

EARLIEST = 1e-6  # of the generalised mean: powers of 0 have no gradient


class Delg(nn.Module):
    """The network.

    Args:
        architecture: name of a torchvision ResNet with bottlenecks, such as `resnet50`.
        attention: channels inside the attention head (512).
        local_dimension: of a local descriptor (128).
        global_dimension: of the global descriptor (2 048).
        power: of the generalised mean (3).
    """

    def __init__(
        self, *, architecture: str, attention: int, local_dimension: int, global_dimension: int, power: float
    ) -> None:
        super().__init__()
        resnet = models.get_model(architecture, weights=None)
        self.stem = nn.Sequential(resnet.conv1, resnet.bn1, resnet.relu, resnet.maxpool)
        self.early = nn.Sequential(resnet.layer1, resnet.layer2, resnet.layer3)
        self.late = resnet.layer4
        late = resnet.fc.in_features
        self.attention = nn.Sequential(nn.Conv2d(late // 2, attention, 1), nn.ReLU(), nn.Conv2d(attention, 1, 1))
        self.reduction = nn.Conv2d(late // 2, local_dimension, 1)
        self.whitening = nn.Linear(late, global_dimension)
        self.power = power

    def forward(self, pixels: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Features of images of one size, (n, 3, height, width), standardised as ImageNet's.

        Returns:
            Global descriptors, (n, global_dimension); local ones, (n, positions, local_dimension), all of length 1;
            their attention > 0, (n, positions).
        """
        early = self.early(self.stem(pixels))
        late = self.late(early).clamp(min=EARLIEST)
        pooled = late.pow(self.power).mean(dim=(2, 3)).pow(1 / self.power)
        local = self.reduction(early).flatten(2).transpose(1, 2)
        attention = functional.softplus(self.attention(early)).flatten(1)
        return (
            functional.normalize(self.whitening(pooled), dim=1),
            functional.normalize(local, dim=2),
            attention,
        )


def strongest(attention: Tensor, most: int, threshold: float) -> Tensor:
    """Positions of at most `most` attention scores above a threshold, (n,) → (≤ most,), strongest first."""
    order = torch.argsort(attention, descending=True, stable=True)[:most]
    return order[attention[order] > threshold]
