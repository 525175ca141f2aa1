"""Check the base models, whichever world wrote them, by loading them as the stages do (this imports torch)."""

from pathlib import Path

import torch

from trivium.kvqae.retrieval.text_encoder import load_text_encoder
from trivium.sources.brought import require_files
from trivium.vision.faces import FaceEncoder
from trivium.vision.whole_images import load_clip, load_imagenet

FILES = (
    "text/config.json",
    "text/model.safetensors",
    "arcface/model.onnx",
    "clip/open_clip_config.json",
    "clip/open_clip_model.safetensors",
    "imagenet/config.json",
    "imagenet/model.safetensors",
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
    FaceEncoder(base / "arcface" / "model.onnx", cpu)
    load_clip(base / "clip", cpu)
    load_imagenet(base / "imagenet", cpu)
    return {"text_parameters": float(sum(weights.numel() for weights in text.parameters()))}
