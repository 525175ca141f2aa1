"""EVA-CLIP (Sun et al., 2023): `timm/eva02_base_patch16_clip_224.merged2b` and its sizes (kvqae.md §3)."""

from typing import ClassVar

from trivium.vision.encoders.clip import TimmTower


class EvaClip(TimmTower):
    """A CLIP whose image tower starts from EVA."""

    name, label, symbol = "eva_clip", "EVA-CLIP", "E"
    tiny: ClassVar = {"timm_model_name": "eva02_tiny_patch14_224", "timm_pool": "token", "image_size": 224}
