"""The stand-in CLIP: a small open_clip model trained on pictures of things and captions of what they look like."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import open_clip
import torch
from open_clip.model import CLIP
from torch import nn

from sample.encoders.encoder_training import cropped, fit, standardised
from sample.encoders.settings import ClipStandIn
from sample.encoders.training_pictures import Pictures
from trivium.nets.weights import save_weights

_CONTEXT = 32


def clip_configuration(*, dimension: int, width: int, size: int) -> dict[str, Any]:
    """The contents of `open_clip_config.json`: a modified ResNet as in RN50, with one block a stage."""
    vision = {"image_size": size, "layers": [1, 1, 1, 1], "width": width, "patch_size": None}
    text = {"context_length": _CONTEXT, "vocab_size": 49408, "width": 64, "heads": 2, "layers": 2}
    preprocessing = {
        "mean": list(open_clip.OPENAI_DATASET_MEAN),
        "std": list(open_clip.OPENAI_DATASET_STD),
        "interpolation": "bicubic",
        "resize_mode": "shortest",
    }
    return {
        "model_cfg": {"embed_dim": dimension, "vision_cfg": vision, "text_cfg": text},
        "preprocess_cfg": preprocessing,
    }


def train_clip(
    things: Pictures, configuration: dict[str, Any], own: ClipStandIn, *, seed: int, log: Callable[..., None]
) -> tuple[CLIP, float]:
    """Train both towers with the symmetric contrastive loss over the batch (Radford et al., ICML 2021).

    Args:
        things: pictures a little larger than the tower's input: each batch looks at another window.
        configuration: as `clip_configuration` makes it.
        own: its training.
        seed, log: as `fit` takes them.

    Returns:
        The model, and the loss at the end.
    """
    torch.manual_seed(seed)
    model = CLIP(**configuration["model_cfg"])
    size = configuration["model_cfg"]["vision_cfg"]["image_size"]
    tokens = open_clip.SimpleTokenizer(context_length=_CONTEXT)(things.captions)
    mean, deviation = open_clip.OPENAI_DATASET_MEAN, open_clip.OPENAI_DATASET_STD
    windows = torch.Generator().manual_seed(seed)

    def loss_of(chosen: torch.Tensor) -> torch.Tensor:
        images = cropped(standardised(things.pixels[chosen.numpy()], mean, deviation), size, windows)
        image, text, scale = model(images, tokens[chosen])
        logits, diagonal = scale * image @ text.T, torch.arange(len(chosen))
        return (nn.functional.cross_entropy(logits, diagonal) + nn.functional.cross_entropy(logits.T, diagonal)) / 2

    return model, fit(model, loss_of, examples=len(tokens), own=own, seed=seed, log=log, name="clip")


def save_clip(model: nn.Module, configuration: dict[str, Any], folder: Path) -> None:
    """Write the folder that open_clip loads as `local-dir:`."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "open_clip_config.json").write_text(json.dumps(configuration, indent=1) + "\n", encoding="utf-8")
    save_weights(model, folder / "open_clip_model.safetensors")
