"""The authors' checkpoints of Re-Ranking Transformers under our names (kvqae.md §4, §8).

A checkpoint such as `r50_gldv2.pt` holds under "state" the network's tensors (and under "optim" what trained them).
"""

import re
from pathlib import Path

import torch

from trivium.core.errors import BadInput
from trivium.kvqae.rerankers.rrt import build_rrt
from trivium.nets.reranking_transformer import RerankingTransformer
from trivium.nets.weights import load_weights, read_plain_tensors
from trivium.vision.local_descriptors.folder import LOCAL_DIMENSION

HEADS = 4  # of all published checkpoints; no tensor tells
_NAMES = (  # in order: pattern, replacement
    (r"^remap\.", "global_projection."),
    (r"^scale_encoder\.", "scale_embeddings."),
    (r"^seg_encoder\.", "segment_embeddings."),
    (r"^classifier\.", "classifier."),
    (r"^encoder\.layers\.(\d+)\.self_attn\.in_proj_(weight|bias)$", r"layers.\1.in_projection.\2"),
    (r"^encoder\.layers\.(\d+)\.self_attn\.out_proj\.", r"layers.\1.out_projection."),
    (r"^encoder\.layers\.(\d+)\.linear1\.", r"layers.\1.widen."),
    (r"^encoder\.layers\.(\d+)\.linear2\.", r"layers.\1.narrow."),
    (r"^encoder\.layers\.(\d+)\.norm1\.", r"layers.\1.norm_attention."),
    (r"^encoder\.layers\.(\d+)\.norm2\.", r"layers.\1.norm_feed_forward."),
)


def read_checkpoint(path: Path) -> RerankingTransformer:
    """The network of the authors' checkpoint; nothing is unpickled but plain tensors.

    Raises:
        BadInput: broken, not plain tensors, a name that is in no RRT, or a tensor missing or of another shape.
    """
    checkpoint = read_plain_tensors(path)
    state = checkpoint.get("state") if isinstance(checkpoint, dict) else None
    if not isinstance(state, dict) or not all(isinstance(value, torch.Tensor) for value in state.values()):
        raise BadInput("not a checkpoint of RRT", file=path, field="state", expected="a mapping of tensors")
    weights = {our_name(name.removeprefix("module."), path): value for name, value in state.items()}
    for name in ("global_projection.weight", "layers.0.widen.weight"):
        if name not in weights or weights[name].dim() != 2:
            raise BadInput(
                "not a checkpoint of RRT", file=path, field=name, expected=f"for tokens of {LOCAL_DIMENSION}"
            )
    layers = {name.split(".")[1] for name in weights if name.startswith("layers.")}
    model = build_rrt(
        global_dimension=weights["global_projection.weight"].shape[1],
        layers=len(layers),
        heads=HEADS,
        hidden=weights["layers.0.widen.weight"].shape[0],
    )
    load_weights(model, weights, path)
    return model


def our_name(name: str, path: Path) -> str:
    """One tensor's name in `RerankingTransformer`.

    Raises:
        BadInput: no tensor of RRT has this name.
    """
    for pattern, replacement in _NAMES:
        renamed, found = re.subn(pattern, replacement, name)
        if found:
            return renamed
    raise BadInput("no tensor of RRT", file=path, field=name)
