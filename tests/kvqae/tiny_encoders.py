"""Image encoders of a few kilobytes with drawn weights, in the formats of the real ones."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from trivium.nets.open_clip_folder import CONFIG
from trivium.vision.encoders.arcface import MODEL
from trivium.vision.encoders.clip import WEIGHTS

if TYPE_CHECKING:  # what takes seconds to import is imported where it is used
    from torch.nn import Module

DIMENSION = 192  # of a small model of timm's embedding; towers without a projection have the same width
TEXT = {"context_length": 8, "vocab_size": 64, "width": 64, "heads": 1, "layers": 1}
CLIP = {
    "embed_dim": 16,
    "vision_cfg": {"image_size": 32, "layers": 1, "width": 64, "patch_size": 8},
    "text_cfg": TEXT,
}
TIMM = {
    "eva_clip": {"timm_model_name": "eva02_tiny_patch14_224", "timm_pool": "token", "image_size": 224},
    "siglip2": {"timm_model_name": "test_vit3", "timm_pool": "map", "timm_proj": "linear", "image_size": 160},
}
SMALL = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
DINO: dict[str, tuple[str, str, str, dict[str, int]]] = {
    "dinov2": ("Dinov2Config", "Dinov2Model", "BitImageProcessor", {"image_size": 28, "patch_size": 14}),
    "vit": ("ViTConfig", "ViTModel", "ViTImageProcessor", {"image_size": 32, "patch_size": 16}),
    "dinov3": (
        "DINOv3ViTConfig",
        "DINOv3ViTModel",
        "DINOv3ViTImageProcessor",
        {"image_size": 32, "patch_size": 16, "intermediate_size": 64},
    ),
}


def write_tiny(name: str, folder: Path) -> Path:
    """A model for the image encoder of this name."""
    if name in TIMM:
        import open_clip
        import torch

        vision = {"timm_model_pretrained": False, "timm_proj": None, **TIMM[name]}
        torch.manual_seed(0)
        model = open_clip.CustomTextCLIP(DIMENSION, vision, TEXT)
        config = {"embed_dim": DIMENSION, "vision_cfg": vision, "text_cfg": TEXT, "custom_text": True}
        return _write_open_clip(folder, model, config, [0.5] * 3)
    if name in DINO:
        return _write_dino(folder, *DINO[name])
    if name == "arcface":
        write_onnx(folder / MODEL, np.random.default_rng(0).normal(size=(3, 8)))
        return folder
    return {"clip": write_clip, "imagenet": write_imagenet}[name](folder)


def write_onnx(path: Path, weights: np.ndarray | None = None, *, batch: str | int = "n", size: int = 112) -> Path:
    """Mean colour of a crop (batch, 3, size, size), times `weights` (3, dimension)."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    weights = np.eye(3, dtype=np.float32) if weights is None else weights.astype(np.float32)
    graph = helper.make_graph(
        [
            helper.make_node("GlobalAveragePool", ["input"], ["pooled"]),
            helper.make_node("Flatten", ["pooled"], ["flat"]),
            helper.make_node("MatMul", ["flat", "weights"], ["embedding"]),
        ],
        "mean_colour",
        [helper.make_tensor_value_info("input", TensorProto.FLOAT, [batch, 3, size, size])],
        [helper.make_tensor_value_info("embedding", TensorProto.FLOAT, [batch, weights.shape[1]])],
        [numpy_helper.from_array(weights, "weights")],
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), str(path))
    return path


def write_imagenet(folder: Path) -> Path:
    """A ResNet-18 for pictures of 56 pixels."""
    import torch
    from safetensors.torch import save_file
    from torchvision import models

    folder.mkdir(parents=True)
    torch.manual_seed(0)
    save_file(models.resnet18(num_classes=5).state_dict(), folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps({"architecture": "resnet18", "size": 56}), encoding="utf-8")
    return folder


def write_clip(folder: Path) -> Path:
    """A one-layer ViT."""
    import open_clip
    import torch

    torch.manual_seed(0)
    return _write_open_clip(folder, open_clip.CLIP(**CLIP), CLIP, [0.25] * 3)


def _write_open_clip(folder: Path, model: "Module", config: dict[str, Any], deviation: list[float]) -> Path:
    from safetensors.torch import save_file

    folder.mkdir(parents=True)
    whole = {"model_cfg": config, "preprocess_cfg": {"mean": [0.5] * 3, "std": deviation}}
    (folder / CONFIG).write_text(json.dumps(whole), encoding="utf-8")
    save_file({name: weights.contiguous() for name, weights in model.state_dict().items()}, folder / WEIGHTS)
    return folder


def _write_dino(folder: Path, config: str, network: str, preparation: str, values: dict[str, int]) -> Path:
    import torch
    import transformers

    torch.manual_seed(0)
    getattr(transformers, network)(getattr(transformers, config)(**SMALL, **values)).save_pretrained(folder)
    side = {"height": values["image_size"], "width": values["image_size"]}
    getattr(transformers, preparation)(size=side, crop_size=side).save_pretrained(folder)
    return folder
