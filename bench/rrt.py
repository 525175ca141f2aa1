"""Image pairs a second through a Re-Ranking Transformer: `python -m bench.rrt`.

With a GPU the paper's network on a question's pairs: 100 of 1 004 tokens, 6 layers; on a CPU a smaller one. Random
weights and descriptors. Beside it the same network built of torch's own `TransformerEncoder`, one pair at a time and
batched: every token of every layer, where only the last layer's [CLS] is read.
"""

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import torch
from torch import nn

from bench import harness
from trivium.kvqae.rerankers.rrt import build_rrt, score_pairs
from trivium.nets.device import autocast, pick_device
from trivium.vision.local_descriptors.folder import LOCAL_DIMENSION, FeatureFolder

PAPER = {"global_dimension": 2048, "layers": 6, "heads": 4, "hidden": 1024, "locals": 500, "pairs": 100}
SMALL = {"global_dimension": 236, "layers": 2, "heads": 1, "hidden": 128, "locals": 32, "pairs": 100}


def features(count: int, most: int, dimension: int) -> FeatureFolder:
    """Random descriptors of images that have them all."""
    rng = np.random.default_rng(0)
    return FeatureFolder(
        names=pa.chunked_array([pa.array([str(row) for row in range(count)])]),
        counts=np.full(count, most, np.int32),
        overall=rng.normal(size=(count, dimension)).astype(np.float16),
        local=rng.normal(size=(count, most, LOCAL_DIMENSION)).astype(np.float16),
        scales=rng.integers(0, 7, (count, most)).astype(np.int8),
    )


def peer(sizes: dict[str, int], device: torch.device, batch: int) -> Callable[[], object]:
    """Torch's encoder on so many tokens, some pairs at a time."""
    layer = nn.TransformerEncoderLayer(LOCAL_DIMENSION, sizes["heads"], sizes["hidden"], dropout=0, batch_first=True)
    encoder = nn.TransformerEncoder(layer, sizes["layers"], enable_nested_tensor=False).eval().to(device)
    tokens = torch.randn(sizes["pairs"], 2 * sizes["locals"] + 4, LOCAL_DIMENSION, device=device)
    absent = torch.zeros(tokens.shape[:2], dtype=torch.bool, device=device)

    def run() -> object:
        with torch.inference_mode(), autocast(device):
            parts = zip(tokens.split(batch), absent.split(batch), strict=True)
            return torch.cat([encoder(part, src_key_padding_mask=mask)[:, 0] for part, mask in parts]).cpu()

    return run


def main() -> None:
    """Time our scores, and torch's layers on the same sizes."""
    device = pick_device()
    sizes = PAPER if device.type == "cuda" else SMALL
    torch.manual_seed(0)
    network = {name: sizes[name] for name in ("global_dimension", "layers", "heads", "hidden")}
    model = build_rrt(**network).eval().requires_grad_(False).to(device)
    images = features(sizes["pairs"] + 1, sizes["locals"], sizes["global_dimension"])
    pairs = np.stack([np.zeros(sizes["pairs"], np.int64), np.arange(1, sizes["pairs"] + 1)], axis=1)
    ours = harness.measure(lambda: score_pairs(model, images, images, pairs, batch=100), repeats=5)
    batched = harness.measure(peer(sizes, device, 100), repeats=5)
    one_by_one = harness.measure(peer(sizes, device, 1), repeats=3)
    harness.write(
        "rrt",
        {
            **sizes,
            "tokens": 2 * sizes["locals"] + 4,
            "device": device.type,
            "pairs_per_second": sizes["pairs"] / ours,
            "torch_batched_time_over_ours": batched / ours,
            "torch_one_by_one_time_over_ours": one_by_one / ours,
            "versions": harness.versions("torch"),
        },
    )


if __name__ == "__main__":
    main()
