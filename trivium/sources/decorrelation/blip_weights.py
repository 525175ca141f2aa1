"""BLIP's own checkpoints (`model_base.pth` and the like) under transformers' names (decorrelation.md §6).

A checkpoint of the pretraining holds under "model" the image tower `visual_encoder` (timm's ViT), the text tower
`text_encoder` (BERT with cross-attention, whose names transformers keeps), the projections, the matching head, `temp`
(τ), and what retrieval leaves out: momentum copies, queues and the text decoder.
"""

import re
from pathlib import Path

import torch

from trivium.core.errors import BadInput
from trivium.nets.weights import read_plain_tensors

_VISION = (  # in order: pattern, replacement
    (r"^visual_encoder\.cls_token$", "vision_model.embeddings.class_embedding"),
    (r"^visual_encoder\.pos_embed$", "vision_model.embeddings.position_embedding"),
    (r"^visual_encoder\.patch_embed\.proj\.", "vision_model.embeddings.patch_embedding."),
    (r"^visual_encoder\.norm\.", "vision_model.post_layernorm."),
    (r"^visual_encoder\.blocks\.(\d+)\.norm([12])\.", r"vision_model.encoder.layers.\1.layer_norm\2."),
    (r"^visual_encoder\.blocks\.(\d+)\.attn\.qkv\.", r"vision_model.encoder.layers.\1.self_attn.qkv."),
    (r"^visual_encoder\.blocks\.(\d+)\.attn\.proj\.", r"vision_model.encoder.layers.\1.self_attn.projection."),
    (r"^visual_encoder\.blocks\.(\d+)\.mlp\.", r"vision_model.encoder.layers.\1.mlp."),
)
_KEPT = re.compile(r"^(text_encoder|vision_proj|text_proj|itm_head)\.")
_LEFT = re.compile(r"^(\w+_m|text_decoder)\.|^(image|text|idx)_queue$|^(queue_ptr|ptr_queue)$|\.position_ids$")
TEMPERATURE = "temp"


def read_checkpoint(path: Path) -> tuple[dict[str, torch.Tensor], float]:
    """The retrieval model's tensors under transformers' names, and τ; nothing is unpickled but plain tensors.

    Raises:
        BadInput: broken, not plain tensors, or a name that is in no BLIP.
    """
    checkpoint = read_plain_tensors(path)
    if not isinstance(checkpoint, dict) or not isinstance(checkpoint.get("model"), dict):
        raise BadInput("not a checkpoint of BLIP", file=path, field="model", expected="a mapping of tensors")
    named: dict[str, torch.Tensor] = {}
    temperature = None
    for name, value in checkpoint["model"].items():
        if name == TEMPERATURE:
            temperature = float(value)
        elif not _LEFT.search(name):
            named[transformers_name(name, path)] = value.contiguous()
    if temperature is None:
        raise BadInput("not a checkpoint of BLIP's pretraining", file=path, field=TEMPERATURE)
    return named, temperature


def transformers_name(name: str, path: Path) -> str:
    """One tensor's name in BlipForImageTextRetrieval.

    Raises:
        BadInput: no tensor of BLIP's retrieval model has this name.
    """
    if _KEPT.match(name):
        return name
    for pattern, replacement in _VISION:
        renamed, found = re.subn(pattern, replacement, name)
        if found:
            return renamed
    raise BadInput("no tensor of BLIP", file=path, field=name)
