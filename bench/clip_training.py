"""CLIP's training, images a second, beside open_clip's own loop and lean torch: `python -m bench.clip_training`.

On a GPU ViT-B-32 with random weights at the paper's batch of 256, in bf16; without one a small network of the sample's
kind. Pictures are noise and already prepared: timed is a step, from tokens and pixels in memory to weights. The popular
way is a step as in open_clip's `train_one_epoch`. An expert lays pictures and weights out channels last, takes the
fused Adam, and writes the loss as two cross-entropies of one product.
"""

import math
import string
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import open_clip
import torch
from open_clip.model import CLIP
from safetensors.torch import save_file
from torch import Tensor
from torch.nn import functional

from bench import harness
from trivium.core.tables import write_json
from trivium.decorrelation.models.interface import start
from trivium.decorrelation.models.settings import ModelSettings
from trivium.decorrelation.training.batches import Batch
from trivium.decorrelation.training.model_training import add_gradient, optimiser_of
from trivium.nets.device import autocast, pick_device

LARGE: dict[str, Any] = {
    "embed_dim": 512,
    "vision_cfg": {"image_size": 224, "layers": 12, "width": 768, "patch_size": 32},
    "text_cfg": {"context_length": 77, "vocab_size": 49408, "width": 512, "heads": 8, "layers": 12},
}
SMALL: dict[str, Any] = {
    "embed_dim": 64,
    "vision_cfg": {"image_size": 48, "layers": [1, 1, 1, 1], "width": 12, "patch_size": None},
    "text_cfg": {"context_length": 28, "vocab_size": 49408, "width": 64, "heads": 2, "layers": 1},
}
SMALL_BATCH = 64
# Of the loss and of the largest gradient, to which a ReLU's input within rounding of 0 adds all or nothing.
CLOSE = {"cpu": (1e-5, 0.01), "cuda": (0.01, 0.1)}
WHY = "tokens and pixels are moved to the device in each step, and the loss is open_clip's, which works on many GPUs"
SETTINGS = ModelSettings(
    base="clip",
    batch_size=256,
    mini_batch_size=256,
    steps=1,
    optimiser="adam",
    learning_rate=2e-6,
    weight_decay=0,
    halve_every=0.2,
    max_gradient_norm=None,
    gradient_checkpointing=False,
    synthetic_share=None,
    smallest_crop=1.0,
)


def by_open_clip(module: CLIP, optimizer: torch.optim.Optimizer, pixels: Tensor, ids: Tensor) -> float:
    """A step as open_clip trains; the loss before it."""
    loss_of = open_clip.ClipLoss()
    optimizer.zero_grad()
    with autocast(pixels.device):
        images, texts, scale = module(pixels, ids)
        loss = loss_of(images, texts, scale)
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        module.logit_scale.clamp_(0, math.log(100))
    return loss.item()


def by_hand(module: CLIP, optimizer: torch.optim.Optimizer, pixels: Tensor, ids: Tensor) -> float:
    """A step as an expert would write it."""
    optimizer.zero_grad(set_to_none=True)
    with autocast(pixels.device):
        images = module.encode_image(pixels, normalize=True)
        texts = module.encode_text(ids, normalize=True)
    scores = module.logit_scale.exp() * images.float() @ texts.float().T
    pairs = torch.arange(len(scores), device=scores.device)
    loss = (functional.cross_entropy(scores, pairs) + functional.cross_entropy(scores.T, pairs)) / 2
    loss.backward()
    optimizer.step()
    return loss.item()


def gradient_of(module: torch.nn.Module) -> Tensor:
    """All weights' in a row."""
    return torch.cat([weights.grad.flatten() for weights in module.parameters() if weights.grad is not None])


def main() -> None:
    """Race a training step, after its loss and gradient have been compared."""
    device = pick_device()
    config, size = (LARGE, 256) if device.type == "cuda" else (SMALL, SMALL_BATCH)
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as folder:
        write_json(Path(folder) / "open_clip_config.json", {"model_cfg": config, "preprocess_cfg": {}})
        save_file(open_clip.CLIP(**config).state_dict(), Path(folder) / "open_clip_model.safetensors")
        model = start("clip", Path(folder), SETTINGS, [])
    theirs, experts = (open_clip.CLIP(**config) for _ in range(2))
    for module in (theirs, experts):
        module.load_state_dict(model.module.state_dict())
    experts.to(memory_format=torch.channels_last)
    for module in (model.module, theirs, experts):
        module.to(device).train()
    side = config["vision_cfg"]["image_size"]
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list(string.ascii_lowercase), 5)) for _ in range(500)]
    texts = [" ".join(rng.choice(words, 10)) for _ in range(size)]
    batch = Batch(torch.randn(size, 3, side, side), model.tokenize(texts), torch.arange(size))
    optimizer = optimiser_of(model.module, SETTINGS)

    def ours() -> float:
        optimizer.zero_grad(set_to_none=True)
        loss = add_gradient(model, batch, 0.0, size)
        optimizer.step()
        return loss

    pixels, ids = batch.pixels.to(device), batch.tokens["ids"].to(device)
    rate = SETTINGS.learning_rate
    popular = partial(by_open_clip, theirs, torch.optim.Adam(theirs.parameters(), lr=rate), pixels, ids)
    fused = torch.optim.Adam(experts.parameters(), lr=rate, fused=True)
    last = pixels.contiguous(memory_format=torch.channels_last)
    expert = partial(by_hand, experts, fused, last, ids)

    of_loss, of_gradient = CLOSE[device.type]
    losses = [call() for call in (ours, popular, expert)]
    np.testing.assert_allclose(losses[1:], losses[0], rtol=of_loss)
    gradients = [gradient_of(module) for module in (model.module, theirs, experts)]
    differences = [float((gradients[0] - each).abs().max() / gradients[0].abs().max()) for each in gradients[1:]]
    np.testing.assert_allclose(differences, 0, atol=of_gradient)
    race = harness.race(
        ours,
        harness.Peer("open_clip's loop", popular),
        harness.Peer("torch, channels last, fused Adam", expert),
        gflop=harness.gflop(expert),
        # Adam reads weights, gradients and two moments, and writes all but the gradients.
        gigabytes=1e-9 * (pixels.nbytes + 7 * sum(weights.nbytes for weights in experts.parameters())),
        why=WHY,
    )
    harness.write(
        "clip_training",
        {
            "network": "ViT-B-32" if device.type == "cuda" else "small ResNet",
            "batch": size,
            "device": torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu",
            "images_per_second": size / race["seconds"],
            "largest_gradient_difference": max(differences),
            "races": {f"a step of {size} pairs": race},
            "versions": harness.versions("torch", "open-clip-torch"),
        },
    )


if __name__ == "__main__":
    main()
