"""The stand-in ImageNet ResNet: torchvision's architecture, trained to tell sorts of things apart."""

from pathlib import Path

import torch
from torch import nn
from torchvision import models

from sample.encoders.encoder_training import Log, cropped, fit, standardised
from sample.encoders.settings import ImageNetStandIn
from sample.encoders.training_pictures import Pictures
from trivium.core.tables import write_json
from trivium.nets.weights import WEIGHTS, save_weights
from trivium.vision.whole_images import DEVIATION, MEAN


def write_imagenet(things: Pictures, folder: Path, own: ImageNetStandIn, *, seed: int, log: Log) -> float:
    """Classify things by kind and sort; write `config.json` and `model.safetensors`.

    Args:
        things: pictures a little larger than the network's input: each batch looks at another window.
        folder: where to.
        own: its sizes and training.
        seed, log: as `fit` takes them.

    Returns:
        The loss at the end.
    """
    torch.manual_seed(seed)
    names = sorted(set(things.classes))
    labels = torch.tensor([names.index(name) for name in things.classes])
    network = models.get_model(own.architecture, weights=None, num_classes=len(names))
    windows = torch.Generator().manual_seed(seed)

    def loss_of(chosen: torch.Tensor) -> torch.Tensor:
        images = cropped(standardised(things.pixels[chosen.numpy()], MEAN, DEVIATION), own.size, windows)
        return nn.functional.cross_entropy(network(images), labels[chosen])

    loss = fit(network, loss_of, examples=len(labels), own=own, seed=seed, log=log, name="imagenet")
    write_json(folder / "config.json", {"architecture": own.architecture, "size": own.size})
    save_weights(network, folder / WEIGHTS)
    return loss
