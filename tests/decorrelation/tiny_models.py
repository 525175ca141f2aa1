"""Random retrieval models of a few kilobytes, in the formats of the real ones."""

import json
from pathlib import Path

import numpy as np
import torch
from open_clip.model import CLIP
from PIL import Image
from safetensors.torch import save_file
from transformers import BlipConfig, BlipForImageTextRetrieval

from sample.scene_models.scene_networks import save_bert_tokenizer, save_clip_tokenizer
from trivium.decorrelation.models.kind import KINDS
from trivium.nets.vse import Vgg

CAPTIONS = ["A dog and a frisbee.", "Two dogs share a frisbee.", "A cat sits on a chair.", "A red bus on the street."]
TRAINING = {
    "base": "tiny",
    "batch_size": 4,
    "mini_batch_size": 4,
    "steps": 4,
    "optimiser": "adam",
    "learning_rate": 1e-3,
    "weight_decay": 0.0,
    "halve_every": 0.5,
    "max_gradient_norm": None,
    "gradient_checkpointing": False,
    "synthetic_share": None,
    "smallest_crop": 1.0,
}
_VSE = {"frozen": 0.0, "dropout": 0.5, "dropout_ends": None, "embedding_dimension": 6, "word_dimension": 5,
        "minimum_count": 1, "margin": 0.2, "warm_up": 0.5}  # fmt: skip
OWN = {
    "clip": {},
    "vse": _VSE,
    "vse_scratch": _VSE | {"frozen": 0.5},
    "blip": {"queue": 6, "momentum": 0.5, "alpha": 0.4, "alpha_rises": 0.5, "image_size": 16, "text_tokens": 12,
             "pre_caption": False, "random_augment": False},
}  # fmt: skip
SETTINGS = {name: kind.Settings.model_validate(TRAINING | OWN[name]) for name, kind in KINDS.items()}
BLIP_CONFIG = {
    "image_text_hidden_size": 6,
    "vision_config": {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2,
                      "image_size": 16, "patch_size": 8, "initializer_range": 0.5},
    "text_config": {"hidden_size": 16, "encoder_hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1,
                    "num_attention_heads": 2, "max_position_embeddings": 16},
}  # fmt: skip


def write_base(kind: str, folder: Path) -> Path:
    """Weights to start from."""
    folder.mkdir(parents=True)
    torch.manual_seed(0)
    {"clip": _write_clip, "vse": _write_cnn, "vse_scratch": _write_cnn, "blip": _write_blip}[kind](folder)
    return folder


def pictures(count: int, size: int = 16) -> list[Image.Image]:
    """Noise."""
    rng = np.random.default_rng(0)
    return [Image.fromarray(rng.integers(0, 256, (size, size, 3), dtype=np.uint8)) for _ in range(count)]


def _write_clip(folder: Path) -> None:
    words = len(save_clip_tokenizer(CAPTIONS, folder))
    config = {
        "embed_dim": 6,
        "vision_cfg": {"image_size": 16, "layers": 1, "width": 16, "head_width": 8, "patch_size": 8},
        "text_cfg": {"context_length": 12, "vocab_size": words, "width": 16, "heads": 2, "layers": 1,
                     "hf_tokenizer_name": "words"},
    }  # fmt: skip
    preparation = {"mean": [0.5] * 3, "std": [0.25] * 3}
    (folder / "open_clip_config.json").write_text(json.dumps({"model_cfg": config, "preprocess_cfg": preparation}))
    save_file(
        {k: v.contiguous() for k, v in CLIP(**config).state_dict().items()}, folder / "open_clip_model.safetensors"
    )


def _write_cnn(folder: Path) -> None:
    config = {"architecture": "vgg", "channels": [4, "M", 6, "M"], "grid": 2, "hidden": 8, "size": 16, "resize": 16}
    (folder / "config.json").write_text(json.dumps(config))
    cnn = Vgg(config["channels"], grid=2, hidden=8, classes=3)
    save_file(cnn.state_dict(), folder / "model.safetensors")


def _write_blip(folder: Path) -> None:
    tokenizer = save_bert_tokenizer(CAPTIONS, folder)
    text = BLIP_CONFIG["text_config"] | {"vocab_size": len(tokenizer), "bos_token_id": 4, "sep_token_id": 3}
    BlipForImageTextRetrieval(BlipConfig(**BLIP_CONFIG | {"text_config": text})).save_pretrained(folder)
