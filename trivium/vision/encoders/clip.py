"""Image towers in open_clip's format, CLIP's own and those of timm, with their preprocessing (kvqae.md §3)."""

from pathlib import Path
from typing import TYPE_CHECKING

from trivium.core.errors import BadInput
from trivium.nets.open_clip_folder import CONFIG, load_open_clip, require_offline
from trivium.vision.image_encoder import ImageEncoder

if TYPE_CHECKING:
    import torch

    from trivium.vision.whole_images import PictureEmbedder


WEIGHTS = "open_clip_model.safetensors"


class OpenClipTower(ImageEncoder):
    """Encoder of whole pictures, trained on pictures with captions."""

    route = "whole"
    files = (CONFIG, WEIGHTS)

    @staticmethod
    def load(folder: Path, device: "torch.device") -> "PictureEmbedder":
        """Load the image tower of an open_clip folder (configuration and weights), with its own preprocessing.

        Raises:
            BadInput: no such model, no weights, weights that do not fit (the layer is named); see `require_offline`.
        """
        from trivium.vision.whole_images import PictureEmbedder

        if not any(path.suffix in (".safetensors", ".bin", ".pth") for path in folder.glob("*")):
            raise BadInput("no weights", file=folder, expected=WEIGHTS)  # open_clip would continue without weights
        require_offline(folder)
        model, _, prepare, _ = load_open_clip(f"local-dir:{folder}", folder, {})
        return PictureEmbedder(folder, model.visual, prepare, device)


class Clip(OpenClipTower):
    """CLIP (Radford et al., 2021), a ViT or a ResNet."""

    name, label, symbol = "clip", "CLIP", "C"
