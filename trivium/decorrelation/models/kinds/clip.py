"""CLIP: two towers, symmetric contrastive loss (Radford et al. 2021)."""

from trivium.decorrelation.models.kind import Kind, ModelSettings


class Clip(Kind):
    """By open_clip; it has the settings of every kind alone."""

    name = "clip"
    label = "CLIP"
    Settings = ModelSettings
    teraflop = 0.012  # ViT-B-32
    network = ("trivium.decorrelation.models.clip", "Clip")
