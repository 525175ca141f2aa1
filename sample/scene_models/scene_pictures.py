"""Scenes that the base models are trained on: drawn as the data sets' are, and none of them is in any data set."""

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
_SHARD = 250  # pictures, so that workers have something to share

Drawn = tuple[NDArray[np.uint8], NDArray[np.bool_], list[str]]


@dataclass(frozen=True)
class ScenePictures:
    """Pictures of scenes.

    Attributes:
        pixels: (n, size, size, 3) uint8.
        cells: (n, rows, columns, kinds) bool, which of `KINDS` cover the middle of each square of a patch's size.
        captions: `CAPTIONS` of the first, then of the second, ….
    """

    pixels: NDArray[np.uint8]
    cells: NDArray[np.bool_]
    captions: list[str]

    @property
    def kinds(self) -> NDArray[np.bool_]:
        """(n, kinds), which of `KINDS` are in the picture."""
        kinds: NDArray[np.bool_] = np.any(self.cells, axis=(1, 2))
        return kinds

    def images(self, chosen: torch.Tensor, standard: tuple[tuple[float, ...], tuple[float, ...]]) -> torch.Tensor:
        """(n, 3, size, size) of the chosen scenes, standardised to mean and deviation."""
        return standardise(self.pixels[chosen.numpy()], *standard)


def draw_scenes(engine: Engine, parameters: DecorrelationBaseModelsParameters) -> ScenePictures:
    """Draw scenes of COCO's cast and, every other one, of Flickr30k's: others than any world's, and for every seed."""
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
    """Let a head begin with how rare each kind is, else hundreds of steps go into learning that; (…, kinds) of 0, 1."""
    shares = kinds.flatten(0, -2).mean(dim=0)
    head.bias = nn.Parameter(shares.clamp(1e-4, 1 - 1e-4).logit())


def kinds_loss(*pairs: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
    """Cross-entropy of each kind, summed over the kinds and over pairs of logits and 0 or 1, (…, kinds) each."""
    return torch.stack([binary_cross_entropy_with_logits(*pair) for pair in pairs]).sum() * len(KINDS)
