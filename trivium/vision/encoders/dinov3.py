"""DINOv3 (Siméoni et al., 2025): `facebook/dinov3-vitb16-pretrain-lvd1689m`, its sizes and ConvNeXts (kvqae.md §3)."""

from typing import ClassVar

from trivium.vision.encoders.dinov2 import Dino


class Dinov3(Dino):
    """DINOv3; its weights can be downloaded after agreeing to Meta's licence."""

    name, label, symbol = "dinov3", "DINOv3", "N₃"
    kinds: ClassVar = ("dinov3_vit", "dinov3_convnext")
