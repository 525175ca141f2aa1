"""DINOv2 (Oquab et al., 2023), with registers or without: `facebook/dinov2-base` and its sizes (kvqae.md §3).

`Dino` is common to networks of pictures alone, which are in transformers' format: see `FirstToken` for a picture's
vector. The folder's own `preprocessor_config.json` says how a picture is scaled, cropped and standardised.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from trivium.core.errors import BadInput
from trivium.core.tables import read_json
from trivium.vision.image_encoder import ImageEncoder

if TYPE_CHECKING:
    import torch
    from PIL.Image import Image

    from trivium.vision.whole_images import PictureEmbedder


FILES = ("config.json", "model.safetensors", "preprocessor_config.json")


class Dino(ImageEncoder):
    """Encoder of whole pictures, trained on pictures alone.

    Attributes:
        kinds: accepted values of `model_type` in the configuration.
    """

    route = "whole"
    files = FILES
    kinds: ClassVar[Sequence[str]]

    @classmethod
    def load(cls, folder: Path, device: "torch.device") -> "PictureEmbedder":
        """Load a network of one of these kinds, with its own preprocessing.

        Raises:
            BadInput: a network of another kind, or see `load_pretrained`.
        """
        from transformers import AutoImageProcessor, AutoModel

        from trivium.nets.pretrained import load_pretrained
        from trivium.vision.whole_images import FirstToken, PictureEmbedder

        file = folder / FILES[0]
        config = read_json(file)
        kind = config.get("model_type") if isinstance(config, dict) else None
        if kind not in cls.kinds:
            raise BadInput("another kind of network", file=file, field="model_type", got=kind, choices=cls.kinds)
        options: dict[str, Any] = {"add_pooling_layer": False} if kind == "vit" else {}  # a classifier has none
        network, processor = load_pretrained(
            AutoModel, folder, "an image encoder", tokenizer=AutoImageProcessor, **options
        )

        def prepare(picture: "Image") -> "torch.Tensor":
            pixels: torch.Tensor = processor(images=picture, return_tensors="pt")["pixel_values"][0]
            return pixels

        return PictureEmbedder(folder, FirstToken(network), prepare, device)


class Dinov2(Dino):
    """DINOv2, a ViT trained on pictures without captions."""

    name, label, symbol = "dinov2", "DINOv2", "N₂"
    kinds: ClassVar = ("dinov2", "dinov2_with_registers")
