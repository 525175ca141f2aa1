"""Faces found by MTCNN and embedded, as `kvqae-image_features` does it, in many copies of a photograph of six people.

MTCNN has its own weights. ArcFace's IResNet-50, whose licence forbids passing it on, is replaced by as many
convolutions of the same sizes.
"""

import io
from pathlib import Path

import insightface
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from bench.gpu import pictures
from trivium.vision.decoding import open_picture
from trivium.vision.encoders.arcface import MODEL
from trivium.vision.image_encoder import FaceEncoderParameters

UNIT, GOAL = "pictures a second", 300.0
SIZE, FEW = 8192, 512
SIDE = 640
DETECTION = {"min_face": 20, "thresholds": (0.6, 0.7, 0.7), "factor": 0.709}  # as in params.yaml
BLOCKS = ((64, 3), (128, 4), (256, 14), (512, 3))  # channels of a stage, and its blocks of two convolutions


def make(folder: Path, size: int) -> None:
    (folder / "model").mkdir()
    onnx.save(convolutions(), str(folder / "model" / MODEL))
    file = Path(insightface.__file__).parent / "data" / "images" / "t1.jpg"
    photograph = open_picture(file.read_bytes()).convert("RGB")
    photograph.thumbnail((SIDE, SIDE))
    out = io.BytesIO()
    photograph.save(out, "JPEG", quality=90)
    pictures.write(folder / "images", [out.getvalue()], size)


def run(folder: Path, out: Path, count: int) -> float:
    """Encode; returns the number of pictures."""
    settings = FaceEncoderParameters.model_validate({**DETECTION, "model": folder / "model"})
    return pictures.encode(folder / "images", out, count, "arcface", settings)


def convolutions() -> onnx.ModelProto:
    """Make a network (n, 3, 112, 112) → (n, 512), in which each stage's first convolution halves the sides."""
    rng = np.random.default_rng(0)
    nodes, weights, last, before = [], [], "input", 3
    layers = [(channels, 2 if place == 0 else 1) for channels, blocks in BLOCKS for place in range(2 * blocks)]
    for number, (channels, stride) in enumerate(layers):
        scale = np.sqrt(2 / (9 * before))
        drawn = (scale * rng.standard_normal((channels, before, 3, 3))).astype(np.float32)
        weights.append(numpy_helper.from_array(drawn, f"w{number}"))
        pads, strides = [1, 1, 1, 1], [stride, stride]
        nodes.append(helper.make_node("Conv", [last, f"w{number}"], [f"c{number}"], pads=pads, strides=strides))
        nodes.append(helper.make_node("Relu", [f"c{number}"], [f"r{number}"]))
        last, before = f"r{number}", channels
    nodes.append(helper.make_node("GlobalAveragePool", [last], ["pooled"]))
    nodes.append(helper.make_node("Flatten", ["pooled"], ["embedding"]))
    given = [helper.make_tensor_value_info("input", TensorProto.FLOAT, ["n", 3, 112, 112])]
    made = [helper.make_tensor_value_info("embedding", TensorProto.FLOAT, ["n", before])]
    graph = helper.make_graph(nodes, "convolutions", given, made, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
