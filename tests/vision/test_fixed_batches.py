"""On a CPU a vector has the same bits alone, in a batch, in another order, and beside other pictures."""

import numpy as np
import pytest
import torch
from PIL import Image

from tests.kvqae.tiny_encoders import write_tiny
from trivium.vision.encoder_registry import ENCODERS
from trivium.vision.image_encoder import CPU_BATCH

COUNTS = (1, 2, CPU_BATCH + 3)  # the last fills a batch and begins another


@pytest.mark.parametrize("name", list(ENCODERS))
def test_no_vector_depends_on_its_batch(name, tmp_path):
    encoder = ENCODERS[name]
    write_tiny(name, tmp_path / name)
    embed = encoder.load(tmp_path / name, torch.device("cpu"))
    draw = np.random.default_rng(0)
    pixels = draw.integers(0, 256, (max(COUNTS), 112, 112, 3), np.uint8)
    shown = list(pixels) if encoder.route == "face" else [Image.fromarray(each) for each in pixels]
    alone = {place: embed([shown[place]])[0] for place in (0, 1, len(shown) - 1)}
    for count in COUNTS:
        together = embed(shown[:count])
        assert all(np.array_equal(together[place], vector) for place, vector in alone.items() if place < count)
    turned = embed(shown[::-1])[::-1]
    assert all(np.array_equal(turned[place], vector) for place, vector in alone.items())
    black = np.zeros_like(pixels[0])
    neighbours = [black if encoder.route == "face" else Image.fromarray(black)] * 5
    assert np.array_equal(embed([*neighbours, shown[0]])[-1], alone[0])
