"""Pictures painted by LaMa at 512², as `decorrelation-inpaint` does it; the published network with random weights."""

from pathlib import Path

import numpy as np
import torch

from bench.inpaint import Lama, pictures
from trivium.core.image_shards import write_images
from trivium.decorrelation.painting.inpainting import InpaintParameters, encode, paint_shard
from trivium.formats import masks
from trivium.formats.pictures import Removal

UNIT, GOAL = "pictures a second", 60.0
SIZE, FEW = 2048, 256
SIDE, SHARD, DISTINCT = 512, 256, 64
WEIGHTS = "big-lama.pt"
PARAMETERS = InpaintParameters(dilate=0, fillings={"lama": {"batch": 16}}, picture_format="webp")


def make(folder: Path, size: int) -> None:
    torch.manual_seed(0)
    torch.jit.script(Lama().eval()).save(str(folder / WEIGHTS))
    encoded = [encode(picture, "png") for picture, _ in pictures(SIDE, SIDE, DISTINCT)]
    write_images(folder / "images", ((f"{number}.png", encoded[number % DISTINCT]) for number in range(size)))


def run(folder: Path, out: Path, count: int) -> float:
    """Paint; returns the number of pictures."""
    holes = [mask for _, mask in pictures(SIDE, SIDE, DISTINCT)]
    removals = tuple(removal(number, holes[number % DISTINCT]) for number in range(count))
    for number, start in enumerate(range(0, count, SHARD)):
        paint_shard(
            (f"test-{number:05d}", removals[start : start + SHARD]),
            images=folder / "images", name="lama", parameters=PARAMETERS,
            weights=folder / WEIGHTS, work=out,
        )  # fmt: skip
    return float(count)


def removal(number: int, mask: np.ndarray) -> Removal:
    """Make the removal of one object of a test picture."""
    return Removal(
        id=f"{number}_thing", picture=number, name=f"{number}.png", split="test", class_name="thing",
        removed=("thing",), remaining=(), mask=masks.encode(mask), height=SIDE, width=SIDE,
        share=float(mask.mean()), drawn=True,
    )  # fmt: skip
