"""DINO's vectors are transformers' own, and a folder of another network is refused."""

from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from transformers import (
    AutoImageProcessor,
    AutoModel,
    ConvNextImageProcessor,
    DINOv3ConvNextConfig,
    DINOv3ConvNextModel,
)

from tests.kvqae.tiny_encoders import write_tiny
from trivium.core.errors import BadInput
from trivium.vision.encoder_registry import ENCODERS

CPU = torch.device("cpu")


def pictures() -> list[Image.Image]:
    draw = np.random.default_rng(1)
    return [Image.fromarray(draw.integers(0, 256, (40, side, 3), dtype=np.uint8)) for side in (40, 90)]


@pytest.mark.parametrize("name", ["dinov2", "dinov3", "vit"])
def test_vectors_are_the_first_token_of_the_library(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    write_tiny(name, folder)
    network, processor = AutoModel.from_pretrained(folder).eval(), AutoImageProcessor.from_pretrained(folder)
    with torch.inference_mode():
        found = network(**processor(images=pictures(), return_tensors="pt")).last_hidden_state[:, 0]
    expected = torch.nn.functional.normalize(found, dim=1).numpy()
    np.testing.assert_allclose(ENCODERS[name].load(folder, CPU)(pictures()), expected, atol=1e-5)


def test_a_convnext_of_dinov3_is_one_too(tmp_path: Path) -> None:
    config = DINOv3ConvNextConfig(hidden_sizes=[8, 8, 16, 16], depths=[1, 1, 1, 1])
    DINOv3ConvNextModel(config).save_pretrained(tmp_path)
    ConvNextImageProcessor(size={"shortest_edge": 384}).save_pretrained(tmp_path)
    assert ENCODERS["dinov3"].load(tmp_path, CPU)(pictures()).shape == (2, 16)


def test_another_network_is_refused(tmp_path: Path) -> None:
    write_tiny("dinov3", tmp_path / "model")
    with pytest.raises(
        BadInput, match="field 'model_type': another kind of network; got 'dinov3_vit'.*choices: dinov2"
    ):
        ENCODERS["dinov2"].load(tmp_path / "model", CPU)
    (tmp_path / "model/preprocessor_config.json").unlink()
    with pytest.raises(BadInput, match="model: not an image encoder"):
        ENCODERS["dinov3"].load(tmp_path / "model", CPU)
