"""CLIP: two towers, symmetric contrastive loss (Radford et al. 2021)."""

from trivium.decorrelation.models.kind import Kind, ModelSettings


class Clip(Kind):
    """CLIP, by open_clip; it has no settings beside those of every kind."""

    name = "clip"
    label = "CLIP"
    Settings = ModelSettings
    teraflop = 0.012  # ViT-B-32
    network = ("trivium.decorrelation.models.clip", "Clip")
