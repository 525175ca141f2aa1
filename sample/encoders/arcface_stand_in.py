"""Stand-in face encoder: a small convolutional network trained with ArcFace's loss, exported to ONNX."""

from pathlib import Path

import torch
from torch import nn

from sample.encoders.encoder_training import Log, fit, standardise
from sample.encoders.settings import ArcFaceStandIn
from sample.encoders.training_pictures import Pictures
from trivium.vision.align import SIZE

# InsightFace standardises to (x - 127.5) / 127.5.
CENTRE = (0.5, 0.5, 0.5)
_SCALE, _MARGIN = 24.0, 0.15  # s and m of ArcFace's loss, m in radians


class FaceNetwork(nn.Sequential):
    """Map (n, 3, 112, 112) to (n, dimension): convolutions at 28, 14, 7 pixels, then a weight per place and channel."""

    def __init__(self, dimension: int, width: int) -> None:
        layers: list[nn.Module] = [nn.AvgPool2d(2)]
        for narrow, wide, kernel, stride in (
            (3, width, 5, 2),
            (width, 2 * width, 3, 2),
            (2 * width, 2 * width, 3, 1),
            (2 * width, 4 * width, 3, 2),
            (4 * width, 4 * width, 3, 1),
        ):
            layers.append(nn.Conv2d(narrow, wide, kernel, stride, kernel // 2, bias=False))
            layers += [nn.BatchNorm2d(wide), nn.PReLU(wide)]
        layers += [nn.Conv2d(wide, wide, 7, groups=wide, bias=False), nn.BatchNorm2d(wide), nn.Flatten()]
        layers += [nn.Linear(wide, dimension, bias=False), nn.BatchNorm1d(dimension)]
        super().__init__(*layers)


class AngularMargin(nn.Module):
    """ArcFace's loss: −log softmax of s·cos(θ_y + m) against s·cos θ_j (Deng et al., CVPR 2019, equation 3).

    `scale` is s, `margin` m in radians.
    """

    def __init__(self, dimension: int, classes: int, scale: float, margin: float) -> None:
        super().__init__()
        self.centres = nn.Parameter(torch.randn(classes, dimension) / dimension**0.5)
        self.scale, self.margin = scale, margin

    def forward(self, embeddings: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """Compute the mean loss of embeddings (n, dimension) with labels (n,): a scalar."""
        cosines = nn.functional.normalize(embeddings) @ nn.functional.normalize(self.centres).T
        angles = torch.acos(cosines.clamp(-1 + 1e-6, 1 - 1e-6))
        own = nn.functional.one_hot(labels, cosines.shape[1]).bool()
        logits = torch.where(own, torch.cos(angles + self.margin), cosines)
        return nn.functional.cross_entropy(self.scale * logits, labels)


def write_arcface(faces: Pictures, folder: Path, own: ArcFaceStandIn, *, seed: int, log: Log) -> float:
    """Train on aligned crops, half of them mirrored; write ONNX in the format of InsightFace's model zoo.

    The model has one input (n, 3, 112, 112) and one output (n, dimension). Returns `fit`'s loss.
    """
    torch.manual_seed(seed)
    network = FaceNetwork(own.dimension, own.width)
    criterion = AngularMargin(own.dimension, int(faces.entities.max()) + 1, _SCALE, _MARGIN)
    labels = torch.from_numpy(faces.entities)

    def loss_of(chosen: torch.Tensor) -> torch.Tensor:
        pixels = faces.pixels[chosen.numpy()]
        mirrored = (torch.rand(len(pixels)) < 0.5).numpy()
        pixels[mirrored] = pixels[mirrored, :, ::-1]
        return criterion(network(standardise(pixels, CENTRE, CENTRE)), labels[chosen])

    both = nn.ModuleList([network, criterion])
    loss = fit(both, loss_of, examples=len(labels), own=own, seed=seed, log=log, name="arcface")
    torch.onnx.export(
        network.eval(), (torch.zeros(1, 3, SIZE, SIZE),), str(folder / "model.onnx"), dynamo=False,
        input_names=["input"], output_names=["embedding"], dynamic_axes={"input": {0: "n"}, "embedding": {0: "n"}},
    )  # fmt: skip
    return loss
