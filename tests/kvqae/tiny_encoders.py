"""Random encoders of a few kilobytes, in the formats of the real ones."""

from pathlib import Path

import numpy as np

from trivium.vision.encoders.arcface import write_mean_colour
from trivium.vision.encoders.clip import Clip
from trivium.vision.encoders.imagenet import ImageNet


def write_onnx(path: Path, weights: np.ndarray | None = None, *, batch: str | int = "n", size: int = 112) -> Path:
    """Mean colour of the crop, times `weights` (3, dimension)."""
    write_mean_colour(path, np.eye(3) if weights is None else weights, batch=batch, size=size)
    return path


def write_imagenet(folder: Path) -> Path:
    """A ResNet-18 with random weights."""
    ImageNet.write_tiny(folder)
    return folder


def write_clip(folder: Path) -> Path:
    """A one-layer ViT CLIP with random weights."""
    Clip.write_tiny(folder)
    return folder
