"""SigLIP 2 (Tschannen et al., 2025): `timm/ViT-B-16-SigLIP2` and others of a fixed size (kvqae.md §3)."""

from trivium.vision.encoders.clip import OpenClipTower


class Siglip2(OpenClipTower):
    """A ViT with attention pooling, trained with a sigmoid loss for each pair of picture and caption."""

    name, label, symbol = "siglip2", "SigLIP 2", "S"
