"""ArcFace (Deng et al., 2019) on the most probable face that MTCNN finds; an ONNX model (kvqae.md §3)."""

from pathlib import Path
from typing import TYPE_CHECKING

from trivium.vision.image_encoder import FaceEncoderParameters, ImageEncoder

if TYPE_CHECKING:
    import torch

    from trivium.vision.faces import FaceEncoder

MODEL = "model.onnx"


class ArcFace(ImageEncoder):
    """Faces; its folder of features also has what was detected, which routes every question."""

    name, label, symbol, route = "arcface", "ArcFace", "A", "face"
    files = (MODEL,)
    Parameters = FaceEncoderParameters

    @staticmethod
    def load(folder: Path, device: "torch.device") -> "FaceEncoder":
        """From (n, 3, 112, 112) RGB to (n, dimension), run by InsightFace."""
        from trivium.vision.faces import FaceEncoder

        return FaceEncoder(folder / MODEL, device)
