"""ArcFace (Deng et al., 2019), an ONNX model, on the most probable face that MTCNN finds (kvqae.md §3)."""

from pathlib import Path
from typing import TYPE_CHECKING

from trivium.vision.image_encoder import FaceEncoderParameters, ImageEncoder

if TYPE_CHECKING:
    import torch

    from trivium.vision.faces import FaceEncoder

MODEL = "model.onnx"


class ArcFace(ImageEncoder):
    """Encoder of faces; its features also say which images show a face, by which questions are routed."""

    name, label, symbol, route = "arcface", "ArcFace", "A", "face"
    files = (MODEL,)
    Parameters = FaceEncoderParameters

    @staticmethod
    def load(folder: Path, device: "torch.device") -> "FaceEncoder":
        """Load the network, from (n, 3, 112, 112) RGB to (n, dimension), to be run by InsightFace."""
        from trivium.vision.faces import FaceEncoder

        return FaceEncoder(folder / MODEL, device)
