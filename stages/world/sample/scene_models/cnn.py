"""VGG's stand-in: a narrow VGG trained to tell which kinds of things are in a scene (decorrelation.md §4)."""

from collections.abc import Sequence
from pathlib import Path

import torch
from torch.nn.functional import binary_cross_entropy_with_logits

from stages.decorrelation.preparation import IMAGENET
from stages.decorrelation.weights import WEIGHTS, save_weights
from stages.nets.vgg import Vgg
from stages.tables import write_json
from stages.tracking import Tracker
from stages.world.sample.encoders.training import fit, standardised
from stages.world.sample.scene_models.pictures import KINDS, ScenePictures


def write_cnn(
    scenes: ScenePictures,
    folder: Path,
    *,
    channels: Sequence[str | int],
    grid: int,
    hidden: int,
    steps: int,
    batch: int,
    learning_rate: float,
    seed: int,
    tracker: Tracker,
) -> float:
    """Train and write `config.json` and torchvision's state dict.

    Args:
        scenes: pictures and kinds.
        folder: where to.
        channels, grid, hidden: as `Vgg` takes them.
        steps, batch, learning_rate, seed, tracker: as `fit` takes them.

    Returns:
        The loss at the end: cross-entropy of each kind, summed over the kinds.
    """
    torch.manual_seed(seed)
    network = Vgg(channels, grid=grid, hidden=hidden, classes=len(KINDS))
    kinds = torch.from_numpy(scenes.kinds).float()

    def loss_of(chosen: torch.Tensor) -> torch.Tensor:
        logits = network(standardised(scenes.pixels[chosen.numpy()], *IMAGENET))
        return binary_cross_entropy_with_logits(logits, kinds[chosen]) * len(KINDS)

    loss = fit(
        network, loss_of, examples=len(kinds), steps=steps, batch=batch, learning_rate=learning_rate, seed=seed,
        tracker=tracker, name="cnn",
    )  # fmt: skip
    size = scenes.pixels.shape[1]
    config = {"architecture": "vgg", "channels": list(channels), "grid": grid, "hidden": hidden}
    write_json(folder / "config.json", config | {"size": size, "resize": size})
    save_weights(network, folder / WEIGHTS)
    return loss
