"""Small image encoders together, and ten pictures to try them on."""

import io
from pathlib import Path

import insightface
import numpy as np
from PIL import Image

from tests.kvqae.tiny_encoders import write_tiny
from trivium.vision.encoder_registry import ENCODERS, encoder_parameters
from trivium.vision.image_encoder import EncoderParameters
from trivium.vision.image_encoding import LoadedEncoder, load_encoder


def encoded(pixels: np.ndarray, kind: str = "PNG", **options: object) -> bytes:
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, kind, **options)
    return out.getvalue()


def write_base(folder: Path) -> Path:
    """Every image encoder with drawn weights, a folder each, as `models/kvqae/base` has them; returns the folder."""
    for name in ENCODERS:
        write_tiny(name, folder / name)
    return folder


def settings_of(base: Path, encoder: str) -> EncoderParameters:
    """The entry of `kvqae.image_encoders` for an encoder of `write_base`."""
    return encoder_parameters(encoder, entry_of(base, encoder))


def entry_of(base: Path, encoder: str) -> dict[str, object]:
    """As it stands in `params.yaml`."""
    faces = {"min_face": 20, "thresholds": [0.6, 0.7, 0.7], "factor": 0.709}
    return {"model": str(base / encoder), **(faces if ENCODERS[encoder].route == "face" else {})}


def load_base(base: Path) -> dict[str, LoadedEncoder]:
    """The encoders of `write_base` by name."""
    return {name: load_encoder(name, settings_of(base, name)) for name in ENCODERS}


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
