"""Scenes that train the base models: drawn as those of the data sets, and in none of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits

from sample.encoders.encoder_training import standardise
from sample.render.canvas import Dice
from sample.scene_models.settings import DecorrelationBaseModelsParameters
from sample.scenes.catalogue import COCO, FLICKR30K
from sample.scenes.scene import Scene, make_scene
from sample.scenes.scene_world import CAPTIONS
from sample.scenes.wording import describe, plain
from trivium.core.engine import Engine

KINDS = tuple(sorted({*COCO.kinds, *FLICKR30K.kinds}))
_SHARD = 250  # pictures that a worker draws at a time

Drawn = tuple[NDArray[np.uint8], NDArray[np.bool_], list[str]]


@dataclass(frozen=True)
class ScenePictures:
    """Pictures of scenes.

    Attributes:
        pixels: (n, size, size, 3) uint8.
        cells: (n, rows, columns, kinds) bool, which of `KINDS` cover the centre of each patch.
        captions: `CAPTIONS` captions of the first picture, then of the second, ….
    """

    pixels: NDArray[np.uint8]
    cells: NDArray[np.bool_]
    captions: list[str]

    @property
    def kinds(self) -> NDArray[np.bool_]:
        """Which of `KINDS` are in each picture, (n, kinds)."""
        kinds: NDArray[np.bool_] = np.any(self.cells, axis=(1, 2))
        return kinds

    def images(self, chosen: torch.Tensor, standard: tuple[tuple[float, ...], tuple[float, ...]]) -> torch.Tensor:
        """Return the chosen pictures, (n, 3, size, size), standardised by mean and deviation."""
        return standardise(self.pixels[chosen.numpy()], *standard)


def draw_scenes(engine: Engine, parameters: DecorrelationBaseModelsParameters) -> ScenePictures:
    """Draw scenes with COCO's kinds and, alternately, Flickr30k's; seeds of other scenes never coincide with theirs."""
    numbers = range(parameters.scenes)
    shards = [numbers[first : first + _SHARD] for first in range(0, len(numbers), _SHARD)]
    draw = partial(_draw, parameters=parameters)
    drawn = [scene for shard in engine.map(draw, shards, description="draw scenes") for scene in shard]
    pixels, cells, captions = zip(*drawn, strict=True)
    return ScenePictures(np.stack(pixels), np.stack(cells), [caption for own in captions for caption in own])


def _draw(numbers: Sequence[int], parameters: DecorrelationBaseModelsParameters) -> list[Drawn]:
    drawn = []
    for number in numbers:
        scene = make_scene(
            f"pretraining/{parameters.seed}/{number}",
            FLICKR30K if number % 2 else COCO,
            size=parameters.picture_size,
            co_occurrence=parameters.co_occurrence,
            colour=parameters.usual_colour,
        )
        dice = Dice("captions", scene.seed)
        captions = [plain(describe(scene, dice, parameters.mention)) for _ in range(CAPTIONS)]
        drawn.append((np.asarray(scene.render().convert("RGB")), _find_cells(scene, parameters.blip.patch), captions))
    return drawn


def _find_cells(scene: Scene, patch: int) -> NDArray[np.bool_]:
    side = scene.size // patch
    middles = np.arange(side) * patch + patch / 2
    cells = np.zeros((side, side, len(KINDS)), np.bool_)
    for thing in scene.things:
        rows = (thing.top <= middles) & (middles < thing.top + thing.height)
        columns = (thing.left <= middles) & (middles < thing.left + thing.width)
        cells[rows[:, None] & columns[None, :], KINDS.index(thing.kind)] = True
    return cells


def begin_with_shares(head: nn.Linear | nn.Conv2d, kinds: torch.Tensor) -> None:
    """Set a head's biases to the log-odds of each kind in `kinds` (…, kinds), which take hundreds of steps to learn."""
    shares = kinds.flatten(0, -2).mean(dim=0)
    head.bias = nn.Parameter(shares.clamp(1e-4, 1 - 1e-4).logit())


def kinds_loss(*pairs: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
    """Sum the cross-entropy of each kind over kinds and over pairs of logits and targets (0 or 1), (…, kinds) each."""
    return torch.stack([binary_cross_entropy_with_logits(*pair) for pair in pairs]).sum() * len(KINDS)
