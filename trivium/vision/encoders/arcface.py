"""ArcFace (Deng et al., 2019) on the most probable face that MTCNN finds; an ONNX model (kvqae.md §3)."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

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

    @staticmethod
    def write_tiny(folder: Path) -> None:
        """The crop's mean colour, projected."""
        write_mean_colour(folder / MODEL, np.random.default_rng(0).normal(size=(3, 8)))


def write_mean_colour(path: Path, weights: NDArray[np.floating], *, batch: str | int = "n", size: int = 112) -> None:
    """An ONNX model that gives the mean colour of a crop (batch, 3, size, size), times `weights` (3, dimension)."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    weights = weights.astype(np.float32)
    graph = helper.make_graph(
        [
            helper.make_node("GlobalAveragePool", ["input"], ["pooled"]),
            helper.make_node("Flatten", ["pooled"], ["flat"]),
            helper.make_node("MatMul", ["flat", "weights"], ["embedding"]),
        ],
        "mean_colour",
        [helper.make_tensor_value_info("input", TensorProto.FLOAT, [batch, 3, size, size])],
        [helper.make_tensor_value_info("embedding", TensorProto.FLOAT, [batch, weights.shape[1]])],
        [numpy_helper.from_array(weights, "weights")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    path.parent.mkdir(parents=True, exist_ok=True)
    onnx.save(model, str(path))
