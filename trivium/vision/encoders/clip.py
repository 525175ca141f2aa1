"""Image towers in open_clip's format, with their own preprocessing: CLIP's own, and those of timm (kvqae.md §3)."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from trivium.core.errors import BadInput
from trivium.nets.open_clip_folder import CONFIG, load_open_clip, require_offline
from trivium.vision.image_encoder import ImageEncoder

if TYPE_CHECKING:
    import torch

    from trivium.vision.whole_images import PictureEmbedder


WEIGHTS = "open_clip_model.safetensors"
_TINY = {
    "embed_dim": 16,
    "vision_cfg": {"image_size": 32, "layers": 1, "width": 64, "patch_size": 8},
    "text_cfg": {"context_length": 8, "vocab_size": 64, "width": 64, "heads": 1, "layers": 1},
}


class Clip(ImageEncoder):
    """Whole pictures, as a model of pictures and captions sees them."""

    name, label, symbol, route = "clip", "CLIP", "C", "whole"
    files = (CONFIG, WEIGHTS)

    @staticmethod
    def load(folder: Path, device: "torch.device") -> "PictureEmbedder":
        """See `load_clip`."""
        return load_clip(folder, device)

    @staticmethod
    def write_tiny(folder: Path) -> None:
        """A one-layer ViT with drawn weights."""
        import open_clip
        import torch
        from safetensors.torch import save_file

        folder.mkdir(parents=True)
        torch.manual_seed(0)
        config = {"model_cfg": _TINY, "preprocess_cfg": {"mean": [0.5, 0.5, 0.5], "std": [0.25, 0.25, 0.25]}}
        (folder / CONFIG).write_text(json.dumps(config), encoding="utf-8")
        model = open_clip.CLIP(**_TINY)
        save_file({name: weights.contiguous() for name, weights in model.state_dict().items()}, folder / WEIGHTS)


def load_clip(folder: Path, device: "torch.device") -> "PictureEmbedder":
    """The image tower of an open_clip folder (`open_clip_config.json` and weights), with its own preprocessing.

    Raises:
        BadInput: no such model, no weights, weights that do not fit (the layer is named); see `require_offline`.
    """
    from open_clip.transform import ResizeKeepRatio

    from trivium.vision.whole_images import PictureEmbedder, on_tensors

    if not any(path.suffix in (".safetensors", ".bin", ".pth") for path in folder.glob("*")):
        raise BadInput("no weights", file=folder, expected="open_clip_model.safetensors")  # open_clip goes on without
    require_offline(folder)
    model, _, prepare, _ = load_open_clip(f"local-dir:{folder}", folder, {})
    of_pillow_alone = any(isinstance(step, ResizeKeepRatio) for step in prepare.transforms)
    transform = None if of_pillow_alone else on_tensors(prepare)
    return PictureEmbedder(folder, model.visual, prepare, device, transform)


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
