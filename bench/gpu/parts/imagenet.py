"""Pictures through the ResNet-50, as `kvqae-image_features` does it."""

import json
from pathlib import Path

import torch
from safetensors.torch import save_file
from torchvision import models

from bench.gpu import pictures
from trivium.vision.image_encoder import EncoderParameters

UNIT, GOAL = "pictures a second", 2500.0
SIZE, FEW = 32_768, 1024


def make(folder: Path, size: int) -> None:
    (folder / "model").mkdir()
    torch.manual_seed(0)
    save_file(models.resnet50().state_dict(), folder / "model" / "model.safetensors")
    config = json.dumps({"architecture": "resnet50", "size": 224})
    (folder / "model" / "config.json").write_text(config, encoding="utf-8")
    pictures.write(folder / "images", pictures.photographs(), size)


def run(folder: Path, out: Path, count: int) -> float:
    """Encode; returns the number of pictures."""
    return pictures.encode(folder / "images", out, count, "imagenet", EncoderParameters(model=folder / "model"))
