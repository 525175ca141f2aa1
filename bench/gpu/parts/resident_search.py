"""What faiss takes for the same search once the vectors lie in the GPU's memory: the least that `search` could take.

They are drawn in the first trial with so many, of which the median takes no notice.
"""

from functools import lru_cache
from pathlib import Path

import faiss
import faiss.contrib.torch_utils  # lets faiss take torch's tensors
import torch
from torch import Tensor

from bench.paper_size.parts import dense
from trivium.nets.device import pick_device

UNIT, GOAL = "searches a second", 1.0
SIZE, FEW, AT_A_TIME = dense.SIZE, 500_000, 1 << 20


def make(folder: Path, size: int) -> None:
    """Nothing: what is searched lies in memory."""


def run(folder: Path, out: Path, count: int) -> float:
    """One search."""
    queries, *blocks = vectors(count)
    found = [nearest(queries, block) for block in blocks]
    scores, places = torch.cat([scores for scores, _ in found], dim=1).topk(dense.DEPTH, dim=1)
    rows = torch.cat([rows + number * AT_A_TIME for number, (_, rows) in enumerate(found)], dim=1)
    best = rows.gather(1, places).cpu()
    if best.max() >= count or not torch.isfinite(scores).all():
        raise RuntimeError("faiss found rows that are not there")
    return 1.0


@lru_cache(maxsize=1)
def vectors(count: int) -> list[Tensor]:
    """Questions, then so many passages in blocks, in half precision on the device; full on a CPU, as faiss wants it."""
    device = pick_device()
    torch.manual_seed(0)
    sizes = [dense.QUESTIONS, *(min(AT_A_TIME, count - start) for start in range(0, count, AT_A_TIME))]
    kind = torch.float16 if device.type == "cuda" else torch.float32
    return [torch.randn(size, dense.WIDTH, device=device, dtype=kind) for size in sizes]


def nearest(queries: Tensor, block: Tensor) -> tuple[Tensor, Tensor]:
    """Scores and rows of a block, (questions, depth)."""
    if not block.is_cuda:
        return faiss.knn(queries, block, dense.DEPTH, metric=faiss.METRIC_INNER_PRODUCT)
    return faiss.knn_gpu(resources(), queries, block, dense.DEPTH, metric=faiss.METRIC_INNER_PRODUCT)


@lru_cache(maxsize=1)
def resources() -> "faiss.StandardGpuResources":
    """Faiss's memory on the GPU."""
    return faiss.StandardGpuResources()
