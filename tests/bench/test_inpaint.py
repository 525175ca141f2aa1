"""The bench of in-painting on small pictures: both peers' bytes are ours; its LaMa has the published size and signature."""

import pytest
import torch

from bench import harness, inpaint
from trivium.decorrelation.painting.inpainter import find_uv

with_uv = pytest.mark.skipif(find_uv() is None, reason="no uv: run make setup")


@pytest.fixture
def tiny(monkeypatch):
    monkeypatch.setattr(harness, "TRIALS", 1)
    monkeypatch.setattr(harness, "count_cores", lambda: 2)
    monkeypatch.setattr(inpaint, "SIZES", {"tiny": (16, 24, 3)})


@with_uv
def test_both_peers_give_our_bytes(tiny, figures):
    inpaint.main()
    found = figures("inpaint")
    race = found["races"]["3 pictures of 16 × 24, 2 workers"]
    assert (race["popular"], race["expert"]) == ("OpenCV in a plain loop", "OpenCV in threads")
    assert found["tiny_images_per_second"] == 3 / race["seconds"]


def test_lama_has_the_published_size_and_paints_within_the_mask():
    published = 205_669_692  # bytes of big-lama's TorchScript, float32 and its code (decorrelation.md §6)
    with torch.device("meta"):
        weights = sum(each.numel() for each in inpaint.Lama().parameters())
    assert 4 * weights == pytest.approx(published, rel=0.02)
    image, mask = torch.rand(2, 3, 24, 40), torch.zeros(2, 1, 24, 40, dtype=torch.int64)
    mask[:, :, 5:10, 8:20] = 1
    painted = torch.jit.script(inpaint.Lama(width=8, blocks=2).eval())(image, mask)
    outside = (mask == 0).expand_as(image)
    assert torch.equal(painted[outside], image[outside])
    assert (painted != image)[~outside].float().mean() > 0.9
