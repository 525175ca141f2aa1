"""VGG's stand-in: a narrow VGG trained to tell which kinds of things are where in a scene (decorrelation.md §4)."""

from pathlib import Path

import torch
from torch import nn
from torch.nn.functional import adaptive_max_pool2d

from sample.encoders.encoder_training import Log, fit
from sample.scene_models.scene_pictures import KINDS, ScenePictures, begin_with_shares, kinds_loss
from sample.scene_models.settings import SceneCnn
from trivium.core.tables import write_json
from trivium.decorrelation.models.interface import IMAGENET
from trivium.nets.vse import Vgg
from trivium.nets.weights import WEIGHTS, save_weights


def write_cnn(scenes: ScenePictures, folder: Path, own: SceneCnn, *, seed: int, log: Log) -> float:
    """Train and write `config.json` and torchvision's state dict.

    Returns:
        The loss at the end: cross-entropy of each kind, summed over the kinds, of the picture and of its squares.
    """
    torch.manual_seed(seed)
    network = Vgg(own.channels, grid=own.grid, hidden=own.hidden, classes=len(KINDS))
    for layer in network.modules():
        if isinstance(layer, nn.Conv2d):  # torch's own initial weights are too small for a VGG to begin
            nn.init.kaiming_normal_(layer.weight)
    kinds, cells = torch.from_numpy(scenes.kinds).float(), torch.from_numpy(scenes.cells).float()
    # Thrown away after the training; without it hundreds of pictures of several things teach little.
    places = nn.Conv2d([width for width in own.channels if isinstance(width, int)][-1], len(KINDS), 1)
    last = next(layer for layer in reversed(network.classifier) if isinstance(layer, nn.Linear))
    begin_with_shares(last, kinds)
    begin_with_shares(places, cells)
    cells = cells.permute(0, 3, 1, 2)

    def loss_of(chosen: torch.Tensor) -> torch.Tensor:
        images = scenes.images(chosen, IMAGENET)
        maps = network.features(images.contiguous(memory_format=torch.channels_last))
        logits = network.classifier(network.avgpool(maps).flatten(1))
        where = adaptive_max_pool2d(cells[chosen], maps.shape[2:])
        return kinds_loss((logits, kinds[chosen]), (places(maps), where))

    both = nn.ModuleList([network, places])
    loss = fit(both, loss_of, examples=len(kinds), own=own, seed=seed, log=log, name="cnn")
    size = scenes.pixels.shape[1]
    config = {"architecture": "vgg", "channels": list(own.channels), "grid": own.grid, "hidden": own.hidden}
    write_json(folder / "config.json", config | {"size": size, "resize": size})
    save_weights(network, folder / WEIGHTS)
    return loss
