"""A tiny CLIP as a repository of the hub holds it for open_clip."""

import json
from typing import Any

import open_clip
from safetensors.torch import save


def clip_files(sizes: dict[str, Any]) -> dict[str, bytes]:
    """The files of a CLIP of these sizes, with random weights."""
    looks = {
        "mean": [0.48145466, 0.4578275, 0.40821073], "std": [0.26862954, 0.26130258, 0.27577711],
        "interpolation": "bicubic", "resize_mode": "shortest",
    }  # fmt: skip
    state = open_clip.CLIP(**sizes).state_dict()
    return {
        "open_clip_config.json": json.dumps({"model_cfg": sizes, "preprocess_cfg": looks}).encode(),
        "open_clip_model.safetensors": save({name: value.contiguous() for name, value in state.items()}),
    }
