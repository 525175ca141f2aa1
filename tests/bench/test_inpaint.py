"""The bench of in-painting on small pictures; its LaMa has the published one's size and signature."""

import json

import pytest
import torch

from bench import harness, inpaint
from trivium.decorrelation.painting.inpainter import find_uv


@pytest.mark.skipif(find_uv() is None, reason="no uv: run make setup")
def test_figures_of_cv2(tmp_path, monkeypatch):
    monkeypatch.setattr(harness, "FOLDER", tmp_path)
    monkeypatch.setattr(inpaint, "SIZES", {"tiny": (16, 24, 3)})
    monkeypatch.setattr(inpaint.torch.cuda, "is_available", lambda: False)
    inpaint.main()
    found = json.loads((tmp_path / "inpaint.json").read_text())
    ours, plain = found["tiny_images_per_second"], found["tiny_plain_loop_images_per_second"]
    assert found["tiny_over_plain_loop_time"] == pytest.approx(plain / ours)


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
