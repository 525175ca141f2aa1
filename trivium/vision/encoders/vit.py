"""ViT (Dosovitskiy et al., 2021), such as `google/vit-base-patch16-224`, or the picture tower of a CLIP alone."""

from typing import ClassVar

from trivium.vision.encoders.dinov2 import Dino


class Vit(Dino):
    """A ViT of any training, by its first token."""

    name, label, symbol = "vit", "ViT", "V"
    kinds: ClassVar = ("vit", "clip_vision_model")
