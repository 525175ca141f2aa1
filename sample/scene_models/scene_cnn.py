"""VGG's stand-in: a narrow VGG trained to tell which kinds of things are where in a scene (decorrelation.md §4)."""

from collections.abc import Callable
from pathlib import Path

import torch
from torch import nn
from torch.nn.functional import adaptive_max_pool2d, binary_cross_entropy_with_logits

from sample.encoders.encoder_training import fit, standardised
from sample.scene_models.scene_pictures import KINDS, ScenePictures
from sample.scene_models.settings import VseStandIn
from trivium.core.tables import write_json
from trivium.decorrelation.models.interface import IMAGENET
from trivium.nets.vse import Vgg
from trivium.nets.weights import WEIGHTS, save_weights


def write_cnn(scenes: ScenePictures, folder: Path, own: VseStandIn, *, seed: int, log: Callable[..., None]) -> float:
    """Train and write `config.json` and torchvision's state dict.

    Args:
        scenes: pictures and kinds.
        folder: where to.
        own: its sizes, as `Vgg` takes them, and training.
        seed, log: as `fit` takes them.

    Returns:
        The loss at the end: cross-entropy of each kind, summed over the kinds, of the picture and of its squares.
    """
    torch.manual_seed(seed)
    network = Vgg(own.channels, grid=own.grid, hidden=own.hidden, classes=len(KINDS))
    for layer in network.modules():
        if isinstance(layer, nn.Conv2d):  # torch's own initial weights are too small for a VGG to begin
            nn.init.kaiming_normal_(layer.weight)
    kinds = torch.from_numpy(scenes.kinds).float()
    cells = torch.from_numpy(scenes.cells).permute(0, 3, 1, 2).float()
    # Thrown away after the training; without it hundreds of pictures of several things teach little.
    places = nn.Conv2d([each for each in own.channels if isinstance(each, int)][-1], len(KINDS), 1)

    last = next(layer for layer in reversed(network.classifier) if isinstance(layer, nn.Linear))
    # They begin with how rare each kind is, else learning that is what the first hundreds of steps go into.
    for head, shares in ((last, kinds.mean(dim=0)), (places, cells.mean(dim=(0, 2, 3)))):
        head.bias = nn.Parameter(shares.clamp(1e-4, 1 - 1e-4).logit())

    def loss_of(chosen: torch.Tensor) -> torch.Tensor:
        pixels = standardised(scenes.pixels[chosen.numpy()], *IMAGENET)
        maps = network.features(pixels.contiguous(memory_format=torch.channels_last))
        logits = network.classifier(network.avgpool(maps).flatten(1))
        where = adaptive_max_pool2d(cells[chosen], maps.shape[2:])
        losses = [binary_cross_entropy_with_logits(*pair) for pair in ((logits, kinds[chosen]), (places(maps), where))]
        return torch.stack(losses).sum() * len(KINDS)

    both = nn.ModuleList([network, places])
    loss = fit(both, loss_of, examples=len(kinds), own=own, seed=seed, log=log, name="cnn")
    size = scenes.pixels.shape[1]
    config = {"architecture": "vgg", "channels": list(own.channels), "grid": own.grid, "hidden": own.hidden}
    write_json(folder / "config.json", config | {"size": size, "resize": size})
    save_weights(network, folder / WEIGHTS)
    return loss
