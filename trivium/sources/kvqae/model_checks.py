"""Check the base models, whichever world wrote them, by loading them as the stages do (this imports torch)."""

from pathlib import Path

import torch

from trivium.kvqae.retrieval.text_encoder import load_text_encoder
from trivium.sources.brought import require_files
from trivium.vision.encoder_registry import ENCODERS

PUBLIC = ("arcface", "clip", "imagenet")  # image encoders whose weights every source gives; others bring their own
FILES = (
    "text/config.json",
    "text/model.safetensors",
    *(f"{name}/{file}" for name in PUBLIC for file in ENCODERS[name].files),
)


def validate_base_models(base: Path) -> dict[str, float]:
    """Load text, face, CLIP and ImageNet encoders.

    Returns:
        Parameters of the text encoder.

    Raises:
        BadInput: a file is not there, is of another format, or its weights do not fit its configuration.
    """
    require_files(base, FILES)
    cpu = torch.device("cpu")
    text, _ = load_text_encoder(base / "text", cpu)
    for name in PUBLIC:
        ENCODERS[name].load(base / name, cpu)
    return {"text_parameters": float(sum(weights.numel() for weights in text.parameters()))}
