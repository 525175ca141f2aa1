"""DELG by our own network, with weights that the user brings (kvqae.md §4; Cao et al. 2020).

One network gives global and local features. A ResNet's last map, pooled by a generalised mean and whitened by a linear
layer, is the global descriptor. The map one stage earlier (conv4) gives the local ones: an attention head scores its
positions, the encoder of an autoencoder reduces 1 024 channels to 128.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from pydantic import Field, ValidationError
from torch import Tensor, nn
from torch.nn import functional
from torchvision import models
from torchvision.transforms import functional as pixels_of

from trivium.core.errors import BadInput
from trivium.core.parameters import Parameters
from trivium.core.tables import read_json
from trivium.nets.device import autocast
from trivium.nets.weights import WEIGHTS, load_weights, read_weights
from trivium.vision.local_descriptors.folder import LOCAL_DIMENSION, SCALES, Description
from trivium.vision.whole_images import DEVIATION, MEAN

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


CONFIG = "delg.json"
IMAGE_SCALES = tuple(2 ** (1 - place / 2) for place in range(SCALES))  # 2 … 1/4: scale 0 sees the smallest details
GLOBAL_SCALES = (1, 2, 3)  # √2, 1, 1/√2: the global descriptor is their mean
NARROWEST = 32  # pixels: the ResNet halves its input five times


class DelgConfiguration(Parameters):
    """`delg.json`, beside the weights."""

    architecture: str = Field(pattern=r"^(resnet(50|101|152)|wide_resnet.*|resnext.*)$", description="torchvision's")
    attention: int = Field(ge=1, description="Channels inside the attention head (512)")
    global_dimension: int = Field(ge=1, description="Of the global descriptor (2 048)")
    power: float = Field(gt=0, description="Of the generalised mean (3)")
    threshold: float = Field(ge=0, description="Attention below which a position gives no local descriptor")


class DelgExtractor:
    """Describes images with the network of a folder.

    Args:
        folder: `delg.json` and `model.safetensors`.
        most: local descriptors kept an image.
        device: where the network runs, in bf16 on a GPU.

    Raises:
        BadInput: a setting is missing or out of range, or the weights do not fit (the layer is named).
    """

    def __init__(self, folder: Path, most: int, device: torch.device) -> None:
        try:
            configuration = DelgConfiguration.model_validate(read_json(folder / CONFIG))
        except ValidationError as error:
            first = error.errors()[0]
            raise BadInput(first["msg"], file=folder / CONFIG, field=".".join(map(str, first["loc"])),
                           got=first["input"], choices=DelgConfiguration.model_fields) from None  # fmt: skip
        network = Delg(
            architecture=configuration.architecture,
            attention=configuration.attention,
            local_dimension=LOCAL_DIMENSION,
            global_dimension=configuration.global_dimension,
            power=configuration.power,
        )
        load_weights(network, read_weights(folder / WEIGHTS), folder / WEIGHTS)
        self.global_dimension = configuration.global_dimension
        self.most = most
        self._network = network.eval().requires_grad_(False).to(device)
        self._threshold = configuration.threshold
        self._device = device

    def __call__(self, images: Sequence[Image.Image]) -> list[Description]:
        """Describe RGB pictures one by one: their sizes differ."""
        return [self._describe(image) for image in images]

    @torch.inference_mode()
    def _describe(self, image: Image.Image) -> Description:
        pixels = pixels_of.normalize(pixels_of.to_tensor(image), list(MEAN), list(DEVIATION))[None].to(self._device)
        overall, local, attention, scales = [], [], [], []
        for scale, factor in enumerate(IMAGE_SCALES):
            size = [max(NARROWEST, round(side * factor)) for side in pixels.shape[2:]]
            scaled = functional.interpolate(pixels, size=size, mode="bilinear", antialias=factor < 1)
            with autocast(self._device):
                whole, positions, scores = (part[0].float() for part in self._network(scaled))
            overall += [whole] * (scale in GLOBAL_SCALES)
            local.append(positions)
            attention.append(scores)
            scales.append(np.full(len(scores), scale, np.int8))
        best = strongest(torch.cat(attention), self.most, self._threshold)
        return Description(
            overall=functional.normalize(torch.stack(overall).mean(dim=0), dim=0).cpu().numpy(),
            local=torch.cat(local)[best].cpu().numpy(),
            scales=np.concatenate(scales)[best.cpu().numpy()],
        )
