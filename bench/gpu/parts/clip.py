"""Pictures through CLIP's RN50, as `kvqae-image_features` does it."""

import json
from pathlib import Path

import open_clip
import torch
from safetensors.torch import save_file

from bench.gpu import pictures
from trivium.nets.open_clip_folder import CONFIG
from trivium.vision.encoders.clip import WEIGHTS
from trivium.vision.image_encoder import EncoderParameters

UNIT, GOAL = "pictures a second", 2500.0
SIZE, FEW = 32_768, 1024


def make(folder: Path, size: int) -> None:
    (folder / "model").mkdir()
    torch.manual_seed(0)
    architecture = open_clip.get_model_config("RN50")
    assert architecture is not None
    config = {"model_cfg": architecture, "preprocess_cfg": {"mean": [0.5, 0.5, 0.5], "std": [0.25, 0.25, 0.25]}}
    (folder / "model" / CONFIG).write_text(json.dumps(config), encoding="utf-8")
    weights = open_clip.CLIP(**architecture).state_dict()
    save_file({name: tensor.contiguous() for name, tensor in weights.items()}, folder / "model" / WEIGHTS)
    pictures.write(folder / "images", pictures.photographs(), size)


def run(folder: Path, out: Path, count: int) -> float:
    """Encode; returns the number of pictures."""
    return pictures.encode(folder / "images", out, count, "clip", EncoderParameters(model=folder / "model"))
