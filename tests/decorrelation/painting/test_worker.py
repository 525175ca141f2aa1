"""LaMa's network in bf16: near float32, its Fourier transforms in float32, and no rule where autocast is off."""

import pytest
import torch
from torch import nn

from bench.inpaint import Lama
from trivium.decorrelation.painting.worker import in_bf16


@pytest.fixture(scope="module")
def given() -> tuple[torch.Tensor, torch.Tensor]:
    """Smooth pictures, of a size that no power of two is, with holes."""
    coarse = torch.rand(3, 3, 8, 8, generator=torch.Generator().manual_seed(1))
    images = nn.functional.interpolate(coarse, (96, 72), mode="bicubic").clamp(0, 1)
    masks = torch.zeros(3, 1, 96, 72, dtype=torch.int64)
    masks[:, :, 20:50, 10:40] = 1
    return images, masks


@pytest.fixture(scope="module")
def network(given: tuple[torch.Tensor, torch.Tensor]) -> nn.Module:
    """A small LaMa whose normalisations have seen a batch, so that nothing vanishes on its way."""
    torch.manual_seed(0)
    lama = Lama(width=16, blocks=9)
    for norm in lama.modules():
        if isinstance(norm, nn.BatchNorm2d):
            norm.momentum = None  # the mean of what was seen
    with torch.no_grad():
        lama(*given)
    return lama.eval()


def mean_and_most(one: torch.Tensor, other: torch.Tensor) -> tuple[float, float]:
    levels = 255 * (one - other).abs()
    return levels.mean().item(), levels.max().item()


@pytest.mark.parametrize("script", ["script", "trace"])
@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
@torch.no_grad()
def test_a_script_in_bf16_is_near_itself_in_float32(
    network: nn.Module, given: tuple[torch.Tensor, torch.Tensor], device: str, script: str
) -> None:
    images, masks = (each.to(device) for each in given)
    module = network.to(device)
    scripted = torch.jit.script(module) if script == "script" else torch.jit.trace(module, (images, masks))
    expected = scripted(images, masks)
    for _ in range(3):  # from the second call on TorchScript runs what it has optimised
        with in_bf16(device):
            found = scripted(images, masks).float()
        assert not torch.equal(found, expected)
        inside = masks.bool().expand_as(found)
        mean, most = mean_and_most(found[inside], expected[inside])
        assert mean < 2
        assert most < 16
        assert torch.equal(found[~inside], expected[~inside])
    assert torch.equal(scripted(images, masks), expected)


@torch.no_grad()
def test_fourier_transforms_and_complex_numbers_are_whole() -> None:
    waves = torch.rand(2, 6, 10)
    with in_bf16("cpu"):
        assert (waves.bfloat16() @ waves.mT).dtype == torch.bfloat16
        spectrum = torch.fft.rfftn(waves.bfloat16(), dim=(-2, -1), norm="ortho")
        made = torch.complex(spectrum.real.bfloat16(), spectrum.imag.bfloat16())
        back = torch.fft.irfftn(spectrum, s=[6, 10], dim=(-2, -1), norm="ortho")
    assert spectrum.dtype == made.dtype == torch.complex64
    torch.testing.assert_close(back, waves.bfloat16().float())
    with pytest.raises(RuntimeError, match="BFloat16"):
        torch.complex(waves.bfloat16(), waves.bfloat16())
