"""DINOv2 (Oquab et al., 2023), with registers or without: `facebook/dinov2-base` and its sizes (kvqae.md §3)."""

from typing import ClassVar

from trivium.vision.dino import Dino


class Dinov2(Dino):
    """A ViT that learned from pictures without captions."""

    name, label, symbol = "dinov2", "DINOv2", "N₂"
    kinds: ClassVar = ("dinov2", "dinov2_with_registers")
    tiny: ClassVar = (
        "Dinov2Config",
        "Dinov2Model",
        "BitImageProcessor",
        {"image_size": 28, "patch_size": 14, "hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2},
    )
