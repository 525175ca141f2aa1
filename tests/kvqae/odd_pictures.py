"""Small image encoders together, and ten pictures to try them on."""

import io
from pathlib import Path

import insightface
import numpy as np
import torch
from PIL import Image

from tests.kvqae.tiny_encoders import write_clip, write_imagenet, write_onnx
from trivium.vision.faces import FaceDetector, FaceEncoder
from trivium.vision.image_encoding import Encoders
from trivium.vision.whole_images import load_clip, load_imagenet

CPU = torch.device("cpu")


def encoded(pixels: np.ndarray, kind: str = "PNG", **options: object) -> bytes:
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, kind, **options)
    return out.getvalue()


def write_base(folder: Path) -> Path:
    """ArcFace, ImageNet and CLIP with drawn weights, as `models/kvqae/base` has them; returns the folder."""
    write_onnx(folder / "arcface" / "model.onnx", np.random.default_rng(0).normal(size=(3, 8)))
    write_imagenet(folder / "imagenet")
    write_clip(folder / "clip")
    return folder


def load_base(base: Path) -> Encoders:
    """The encoders of `write_base`, on the CPU."""
    detector = FaceDetector(min_side=20, min_face=20, thresholds=(0.6, 0.7, 0.7), factor=0.709, device=CPU)
    arcface = FaceEncoder(base / "arcface" / "model.onnx", CPU)
    return Encoders(detector, arcface, load_imagenet(base / "imagenet", CPU), load_clip(base / "clip", CPU))


def odd_pictures() -> dict[str, bytes]:
    """Ten images: people, landscapes and what Commons has of broken and odd ones."""
    path = Path(insightface.__file__).parent / "data" / "images" / "t1.jpg"
    group = np.asarray(Image.open(path).convert("RGB"))
    woman = encoded(group[240:420, 30:190])
    noise = np.random.default_rng(0).integers(0, 256, (64, 48, 3), dtype=np.uint8)
    return {
        "woman.png": woman,
        "cut.png": woman[: len(woman) // 2],
        "noise.png": encoded(noise),
        "page.html": b"<html>404</html>",
        "one.png": encoded(noise[:1, :1]),
        "strip.png": encoded(np.zeros((40, 20_000), np.uint8)),
        "wall.png": encoded(np.zeros((4_000, 4_000), np.uint8)),
        "two.png": encoded(group[130:410, 260:600]),
        "low.png": encoded(noise[:19]),
        "man.jpg": encoded(group[330:480, 720:870], "JPEG"),
    }
