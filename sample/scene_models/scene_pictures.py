"""Scenes that the base models are trained on: drawn as the data sets' are, and none of them is in any data set."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sample.render.canvas import Dice
from sample.scenes.catalogue import COCO, FLICKR30K
from sample.scenes.scene import Scene, make_scene
from sample.scenes.wording import describe, plain
from trivium.core.engine import Engine

KINDS = tuple(sorted({*COCO.kinds, *FLICKR30K.kinds}))
CAPTIONS = 5
_SHARD = 250  # pictures, so that workers have something to share


@dataclass(frozen=True)
class ScenePictures:
    """Pictures of scenes.

    Attributes:
        pixels: (n, size, size, 3) uint8.
        cells: (n, rows, columns, kinds) bool, which of `KINDS` cover the middle of each square of `cell` pixels.
        captions: `CAPTIONS` of each.
    """

    pixels: NDArray[np.uint8]
    cells: NDArray[np.bool_]
    captions: list[tuple[str, ...]]

    @property
    def kinds(self) -> NDArray[np.bool_]:
        """(n, kinds), which of `KINDS` are in the picture."""
        found: NDArray[np.bool_] = np.any(self.cells, axis=(1, 2))
        return found


@dataclass(frozen=True)
class _Order:
    numbers: range
    seed: int
    size: int
    cell: int
    co_occurrence: float
    mention: float
    colour: float


def draw_scenes(
    engine: Engine, *, scenes: int, seed: int, size: int, cell: int, co_occurrence: float, mention: float, colour: float
) -> ScenePictures:
    """Draw scenes of COCO's cast and, every other one, of Flickr30k's.

    Args:
        engine: where shards are drawn.
        scenes: how many.
        seed: other scenes for every seed, and others than any world's.
        size: side of the pictures in pixels.
        cell: side of the squares whose kinds are told, a divisor of `size`.
        co_occurrence, mention, colour: as in `ScenesParameters`.
    """
    shards = [range(first, min(first + _SHARD, scenes)) for first in range(0, scenes, _SHARD)]
    orders = [_Order(numbers, seed, size, cell, co_occurrence, mention, colour) for numbers in shards]
    parts = list(engine.map(_draw, orders, description="draw scenes"))
    return ScenePictures(
        np.concatenate([part.pixels for part in parts]),
        np.concatenate([part.cells for part in parts]),
        [captions for part in parts for captions in part.captions],
    )


def _draw(order: _Order) -> ScenePictures:
    pixels, cells, captions = [], [], []
    for number in order.numbers:
        cast = FLICKR30K if number % 2 else COCO
        scene = make_scene(
            f"pretraining/{order.seed}/{number}",
            cast,
            size=order.size,
            co_occurrence=order.co_occurrence,
            colour=order.colour,
        )
        dice = Dice("captions", scene.seed)
        pixels.append(np.asarray(scene.render().convert("RGB")))
        cells.append(_cells(scene, order.cell))
        captions.append(tuple(plain(describe(scene, dice, order.mention)) for _ in range(CAPTIONS)))
    return ScenePictures(np.stack(pixels), np.stack(cells), captions)


def _cells(scene: Scene, cell: int) -> NDArray[np.bool_]:
    side = scene.size // cell
    middles = np.arange(side) * cell + cell / 2
    cells = np.zeros((side, side, len(KINDS)), np.bool_)
    for thing in scene.things:
        rows = (thing.top <= middles) & (middles < thing.top + thing.height)
        columns = (thing.left <= middles) & (middles < thing.left + thing.width)
        cells[rows[:, None] & columns[None, :], KINDS.index(thing.kind)] = True
    return cells
