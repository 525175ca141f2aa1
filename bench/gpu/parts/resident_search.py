"""The search of part `search` by torch alone, with the vectors in the GPU's memory: a lower bound of its time.

Scores are rounded to half precision. The first trial with a number of vectors also draws them, which does not change
the median.
"""

from functools import lru_cache
from pathlib import Path

import torch
from torch import Tensor

from bench.paper_size.parts import dense
from trivium.nets.device import pick_device

UNIT, GOAL = "searches a second", 1.0
SIZE, FEW, AT_A_TIME = dense.SIZE, 500_000, 1 << 20


def make(folder: Path, size: int) -> None:
    """Write nothing, since the vectors are in memory."""


def run(folder: Path, out: Path, count: int) -> float:
    """Search once."""
    queries, *blocks = vectors(count)
    nearest(queries, blocks)
    return 1.0


@lru_cache(maxsize=1)
def vectors(count: int) -> list[Tensor]:
    """Draw questions, and `count` passages in blocks, in half precision on a GPU."""
    device = pick_device()
    torch.manual_seed(0)
    sizes = [dense.QUESTIONS, *(min(AT_A_TIME, count - start) for start in range(0, count, AT_A_TIME))]
    kind = torch.float16 if device.type == "cuda" else torch.float32
    return [torch.randn(size, dense.WIDTH, device=device, dtype=kind) for size in sizes]


def nearest(queries: Tensor, blocks: list[Tensor]) -> tuple[Tensor, Tensor]:
    """Search; returns scores and rows, (questions, depth), on the CPU."""
    best = [(queries @ block.T).topk(dense.DEPTH, dim=1) for block in blocks]
    scores, places = torch.cat([scores for scores, _ in best], dim=1).topk(dense.DEPTH, dim=1)
    rows = torch.cat([rows + number * AT_A_TIME for number, (_, rows) in enumerate(best)], dim=1)
    return scores.cpu(), rows.gather(1, places).cpu()
