"""A torchvision ResNet trained on ImageNet, its last map max-pooled over positions (kvqae.md §3)."""

from pathlib import Path
from typing import TYPE_CHECKING

from trivium.core.errors import BadInput
from trivium.core.tables import read_json
from trivium.vision.image_encoder import ImageEncoder

if TYPE_CHECKING:
    import torch

    from trivium.vision.whole_images import PictureEmbedder

FILES = ("config.json", "model.safetensors")


class ImageNet(ImageEncoder):
    """Encoder of whole pictures, trained to classify objects."""

    name, label, symbol, route = "imagenet", "ImageNet", "I", "whole"
    files = FILES

    @staticmethod
    def load(folder: Path, device: "torch.device") -> "PictureEmbedder":
        """Load a torchvision ResNet from `config.json` {"architecture", "size"} and `model.safetensors`.

        Images are scaled to `size` on the short side, as the authors do, cropped and standardised as in training.

        Raises:
            BadInput: no such architecture, a size out of range, or weights that do not fit (the layer is named).
        """
        from torchvision import models, transforms

        from trivium.nets.weights import load_weights, read_weights
        from trivium.vision.whole_images import DEVIATION, MEAN, MaxPooled, PictureEmbedder

        config_file, weights_file = (folder / name for name in FILES)
        config = read_json(config_file)
        architecture, size = config.get("architecture"), config.get("size")
        choices = models.list_models(include=["resnet*", "resnext*", "wide_resnet*"])
        if architecture not in choices:
            raise BadInput("unknown", file=config_file, field="architecture", got=architecture, choices=choices)
        if not isinstance(size, int) or size < 32:
            raise BadInput("bad size", file=config_file, field="size", got=size, expected="pixels, at least 32")
        weights = read_weights(weights_file)
        resnet = models.get_model(architecture, weights=None, num_classes=len(weights.get("fc.bias", ())) or 1000)
        load_weights(resnet, weights, weights_file)
        prepare = transforms.Compose(
            [
                transforms.Resize(size),
                transforms.CenterCrop(size),
                transforms.ToTensor(),
                transforms.Normalize(MEAN, DEVIATION),
            ]
        )
        return PictureEmbedder(folder, MaxPooled(resnet), prepare, device)
