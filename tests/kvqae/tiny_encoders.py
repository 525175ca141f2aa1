"""Random encoders of a few kilobytes, in the formats of the real ones."""

import json
from pathlib import Path

import numpy as np
import onnx
import open_clip
import torch
from onnx import TensorProto, helper, numpy_helper
from safetensors.torch import save_file
from torchvision import models

CLIP_CONFIG = {
    "embed_dim": 16,
    "vision_cfg": {"image_size": 32, "layers": 1, "width": 64, "patch_size": 8},
    "text_cfg": {"context_length": 8, "vocab_size": 64, "width": 64, "heads": 1, "layers": 1},
}


def write_onnx(path: Path, weights: np.ndarray | None = None, *, batch: str | int = "n", size: int = 112) -> Path:
    """Mean colour of the crop, times `weights` (3, dimension)."""
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
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    path.parent.mkdir(parents=True, exist_ok=True)
    onnx.save(model, str(path))
    return path


def write_imagenet(folder: Path, *, size: int = 56) -> Path:
    """A ResNet-18 with random weights."""
    folder.mkdir(parents=True)
    torch.manual_seed(0)
    save_file(models.resnet18(num_classes=5).state_dict(), folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps({"architecture": "resnet18", "size": size}))
    return folder


def write_clip(folder: Path) -> Path:
    """A one-layer ViT CLIP with random weights."""
    folder.mkdir(parents=True)
    torch.manual_seed(0)
    config = {"model_cfg": CLIP_CONFIG, "preprocess_cfg": {"mean": [0.5, 0.5, 0.5], "std": [0.25, 0.25, 0.25]}}
    (folder / "open_clip_config.json").write_text(json.dumps(config))
    model = open_clip.CLIP(**CLIP_CONFIG)
    save_file({k: v.contiguous() for k, v in model.state_dict().items()}, folder / "open_clip_model.safetensors")
    return folder
