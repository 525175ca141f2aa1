"""CLIP's training, images a second: `python -m bench.clip_training`.

On a GPU ViT-B-32 with random weights at the paper's batch of 256, in bf16; without one a small network of the sample's
kind. Pictures are noise and already prepared: timed is a step, from tokens and pixels in memory to weights.
"""

import string
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import open_clip
import torch
from safetensors.torch import save_file

from bench import harness
from trivium.decorrelation.models.interface import start
from trivium.decorrelation.models.settings import ModelSettings
from trivium.decorrelation.training.batches import Batch
from trivium.decorrelation.training.model_training import add_gradient, optimiser_of
from trivium.files.tables import write_json
from trivium.nets.device import pick_device

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


def main() -> None:
    """Time a training step."""
    device = pick_device()
    config, size = (LARGE, 256) if device.type == "cuda" else (SMALL, 64)
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as folder:
        write_json(Path(folder) / "open_clip_config.json", {"model_cfg": config, "preprocess_cfg": {}})
        save_file(open_clip.CLIP(**config).state_dict(), Path(folder) / "open_clip_model.safetensors")
        model = start("clip", Path(folder), SETTINGS, [])
    model.module.to(device).train()
    side = config["vision_cfg"]["image_size"]
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list(string.ascii_lowercase), 5)) for _ in range(500)]
    texts = [" ".join(rng.choice(words, 10)) for _ in range(size)]
    batch = Batch(torch.randn(size, 3, side, side), model.tokenize(texts), torch.arange(size))
    optimizer = optimiser_of(model.module, SETTINGS)

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        add_gradient(model, batch, 0.0, size)
        optimizer.step()

    seconds = harness.measure(step, repeats=10)
    harness.write(
        "clip_training",
        {
            "network": "ViT-B-32" if device.type == "cuda" else "small ResNet",
            "batch": size,
            "device": torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu",
            "images_per_second": size / seconds,
            "versions": harness.versions("torch", "open-clip-torch"),
        },
    )


if __name__ == "__main__":
    main()
