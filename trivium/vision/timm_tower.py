"""Image towers of timm in open_clip's format, as newer models of pictures and captions have them (kvqae.md §3)."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from trivium.nets.open_clip_folder import CONFIG
from trivium.vision.encoders.clip import WEIGHTS, load_clip
from trivium.vision.image_encoder import ImageEncoder

if TYPE_CHECKING:
    import torch

    from trivium.vision.whole_images import PictureEmbedder

_DIMENSION = 192  # of a small model's embedding; towers without a projection have the same width
_TEXT = {"context_length": 8, "vocab_size": 64, "width": 64, "heads": 1, "layers": 1}


class TimmTower(ImageEncoder):
    """Whole pictures, by an open_clip folder whose configuration names an architecture of timm.

    Attributes:
        tiny: the image tower of a small model of the same architecture, in open_clip's words, for tests.
    """

    route = "whole"
    files = (CONFIG, WEIGHTS)
    tiny: ClassVar[Mapping[str, Any]]

    @staticmethod
    def load(folder: Path, device: "torch.device") -> "PictureEmbedder":
        """See `load_clip`."""
        return load_clip(folder, device)

    @classmethod
    def write_tiny(cls, folder: Path) -> None:
        """The smallest model of this architecture that timm has, with drawn weights."""
        import open_clip
        import torch
        from safetensors.torch import save_file

        folder.mkdir(parents=True)
        torch.manual_seed(0)
        vision = {"timm_model_pretrained": False, "timm_proj": None, **cls.tiny}
        model_config = {"embed_dim": _DIMENSION, "vision_cfg": vision, "text_cfg": _TEXT, "custom_text": True}
        config = {"model_cfg": model_config, "preprocess_cfg": {"mean": [0.5] * 3, "std": [0.5] * 3}}
        (folder / CONFIG).write_text(json.dumps(config), encoding="utf-8")
        model = open_clip.CustomTextCLIP(_DIMENSION, vision, _TEXT)
        save_file({name: weights.contiguous() for name, weights in model.state_dict().items()}, folder / WEIGHTS)
