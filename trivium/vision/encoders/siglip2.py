"""SigLIP 2 (Tschannen et al., 2025): `timm/ViT-B-16-SigLIP2` and others of a fixed size (kvqae.md §3)."""

from typing import ClassVar

from trivium.vision.encoders.clip import TimmTower


class Siglip2(TimmTower):
    """A ViT that gathers a picture by attention, trained with a sigmoid for each pair of picture and caption."""

    name, label, symbol = "siglip2", "SigLIP 2", "S"
    tiny: ClassVar = {"timm_model_name": "test_vit3", "timm_pool": "map", "timm_proj": "linear", "image_size": 160}
