"""Every image encoder of the folder, with a tiny model of it: a new file needs one in `tests/kvqae/tiny_encoders.py`."""

import re
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from tests.kvqae.tiny_encoders import write_tiny
from trivium.core.errors import BadInput
from trivium.vision.align import SIZE
from trivium.vision.encoder_registry import ENCODERS, by_route, encoder_parameters
from trivium.vision.image_encoder import FaceEncoderParameters


def test_members_are_the_modules_of_the_folder() -> None:
    assert {"arcface", "clip", "imagenet"} <= set(ENCODERS)
    symbols = [encoder.symbol for encoder in ENCODERS.values()]
    assert len(set(symbols)) == len(symbols)


@pytest.mark.parametrize("name", ENCODERS)
def test_a_member_bears_what_is_asked_of_it(name: str, tmp_path: Path) -> None:
    encoder = ENCODERS[name]
    assert encoder.name == name
    assert encoder.label
    assert issubclass(encoder.Parameters, FaceEncoderParameters) == (encoder.route == "face")
    assert by_route([name])[encoder.route] == (name,)
    write_tiny(name, tmp_path / "model")
    assert all((tmp_path / "model" / file).is_file() for file in encoder.files)
    embed = encoder.load(tmp_path / "model", torch.device("cpu"))
    noise = np.random.default_rng(0).integers(0, 256, (2, SIZE, SIZE, 3), dtype=np.uint8)
    shown = list(noise) if encoder.route == "face" else [Image.fromarray(pixels) for pixels in noise]
    vectors = embed(shown)
    assert vectors.shape == (2, embed.dimension)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-3)
    np.testing.assert_allclose(embed(shown[:1]), vectors[:1], atol=1e-2)
    assert embed([]).shape == (0, embed.dimension)


def test_the_table_in_the_docs_says_what_members_say() -> None:
    text = (Path(__file__).parents[2] / "docs" / "kvqae.md").read_text(encoding="utf-8")
    for name in re.findall(r"\| `trivium/vision/encoders/(\w+)\.py` \|", text):
        encoder = ENCODERS[name]
        assert f"| `{name}` | {encoder.label}, {encoder.symbol} | {encoder.route} |" in text


def test_unknown_members_and_entries_are_refused() -> None:
    with pytest.raises(BadInput, match="no such image encoder; got 'sight'.*choices: arcface, .*imagenet"):
        ENCODERS["sight"]
    with pytest.raises(BadInput, match=r"kvqae\.image_encoders\.clip\.size: Extra inputs"):
        encoder_parameters("clip", {"model": "models/clip", "size": 3})
