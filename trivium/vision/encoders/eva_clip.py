"""EVA-CLIP (Sun et al., 2023): `timm/eva02_base_patch16_clip_224.merged2b` and its sizes (kvqae.md §3)."""

from trivium.vision.encoders.clip import OpenClipTower


class EvaClip(OpenClipTower):
    """A CLIP whose image tower starts from EVA."""

    name, label, symbol = "eva_clip", "EVA-CLIP", "E"
