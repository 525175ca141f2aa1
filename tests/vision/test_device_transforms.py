"""Preparing pictures on a device: Pillow's numbers within what the module states; a CPU goes on as it did."""

import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from PIL import Image
from torchvision import transforms
from torchvision.transforms import InterpolationMode

from trivium.core.arithmetic import PORTABLE
from trivium.vision import whole_images
from trivium.vision.decoding import decode
from trivium.vision.encoder_registry import ENCODERS
from trivium.vision.whole_images import device_prepares, on_tensors, pack, prepared_on

CPU = torch.device("cpu")
BICUBIC = InterpolationMode.BICUBIC
SCALINGS = {
    "ImageNet": [transforms.Resize(56), transforms.CenterCrop(56)],
    "CLIP": [transforms.Resize(56, BICUBIC), transforms.CenterCrop(56)],
    "SigLIP": [transforms.Resize((56, 56), BICUBIC)],
    "enlarging": [transforms.Resize(448, BICUBIC), transforms.CenterCrop(448)],
}
# Width and height: odd ones, wide ones, high ones (Pillow begins with the height), the very size and
# twice that, strips of 1 pixel.
SIZES = [(37, 53), (53, 37), (321, 214), (214, 321), (75, 300), (300, 75), (56, 56), (112, 112), (1, 8), (8, 1), (1, 1)]
KINDS: dict[str, Callable[[int, int], NDArray[np.uint8]]] = {
    "noise": lambda width, height: np.random.default_rng(0).integers(0, 256, (height, width, 3), np.uint8),
    "black and white": lambda width, height: 255 * np.random.default_rng(1).integers(0, 2, (height, width, 3), np.uint8),
    "smooth": lambda width, height: np.asarray(picture("noise", 1 + width // 8, 1 + height // 8).resize((width, height))),
}  # fmt: skip


def picture(kind: str, width: int, height: int) -> Image.Image:
    return Image.fromarray(KINDS[kind](width, height))


def preparation(scaling: str) -> transforms.Compose:
    return transforms.Compose([*SCALINGS[scaling], transforms.ToTensor(), transforms.Normalize([0.5] * 3, [0.25] * 3)])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scaling", SCALINGS)
def test_within_what_is_stated_of_pillow(scaling: str, kind: str) -> None:
    pictures = [picture(kind, *size) for size in SIZES + SIZES[:3]]  # three sizes twice: not one after the other
    prepare = preparation(scaling)
    found = prepared_on(CPU, pack(pictures), slice(0, len(pictures)), on_tensors(prepare))
    expected = torch.stack([prepare(each) for each in pictures])
    assert found.shape == expected.shape
    levels = (255 * 0.25 * (found - expected)).abs()
    assert levels.max() < 2.001
    assert (levels > 1.001).float().mean() < 1e-4


def test_a_greyscale_picture_is_one_like_any_other() -> None:
    buffer = io.BytesIO()
    picture("noise", 90, 61).convert("L").save(buffer, "PNG")
    grey = decode(buffer.getvalue(), max_side=512, max_pixels=10_000)
    prepare = preparation("CLIP")
    [found] = prepared_on(CPU, pack([grey]), slice(0, 1), on_tensors(prepare))
    assert (255 * 0.25 * (found - prepare(grey))).abs().max() < 2.001
    assert torch.equal(found[0], found[2])


def test_some_of_the_pictures_are_prepared_as_with_all() -> None:
    packed = pack([picture("noise", *size) for size in SIZES])
    transform = on_tensors(preparation("CLIP"))
    whole = prepared_on(CPU, packed, slice(0, len(SIZES)), transform)
    parts = [prepared_on(CPU, packed, slice(start, start + 4), transform) for start in range(0, len(SIZES), 4)]
    assert torch.equal(torch.cat(parts), whole)


@pytest.mark.parametrize("name", ["imagenet", "clip", "siglip2", "eva_clip", "dinov2", "dinov3"])
def test_an_encoder_gives_nearly_the_same(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ENCODERS[name].write_tiny(tmp_path / name)
    pictures = [picture("smooth", *size) for size in ((60, 40), (1024, 1), (60, 40), (35, 90))]
    encoder = ENCODERS[name].load(tmp_path / name, CPU)
    assert encoder.prepare(pictures).dtype == torch.float32
    expected = encoder(pictures)
    monkeypatch.setattr(whole_images, "device_prepares", lambda _: True)
    encoder = ENCODERS[name].load(tmp_path / name, CPU)
    assert encoder.prepare(pictures).pixels.dtype == torch.uint8
    found = encoder(pictures)
    assert (found * expected).sum(axis=1).min() > 0.999
    assert encoder([]).shape == (0, encoder.dimension)


def test_an_encoder_that_runs_out_of_memory_halves_its_pictures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ENCODERS["clip"].write_tiny(tmp_path / "clip")
    monkeypatch.setattr(whole_images, "device_prepares", lambda _: True)
    encoder = ENCODERS["clip"].load(tmp_path / "clip", CPU)
    pictures = [picture("noise", *size) for size in SIZES]
    expected = encoder(pictures)
    prepared_on = whole_images.prepared_on

    def at_most_three(device, packed, rows, transform):
        if rows.stop - rows.start > 3:
            raise torch.OutOfMemoryError
        return prepared_on(device, packed, rows, transform)

    monkeypatch.setattr(whole_images, "prepared_on", at_most_three)
    np.testing.assert_allclose(encoder(pictures), expected, atol=1e-6)


def test_a_cpu_never_prepares_and_a_gpu_where_it_may_use_bf16(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = {}
    for portable in ("false", "intel", "x86"):
        monkeypatch.setenv(PORTABLE, portable)
        chosen[portable] = [device_prepares(torch.device(name)) for name in ("cpu", "cuda")]
    assert chosen == {"false": [False, True], "intel": [False, False], "x86": [False, False]}


@pytest.mark.gpu
@pytest.mark.parametrize("scaling", SCALINGS)
def test_a_gpu_prepares_as_a_cpu_does(scaling: str) -> None:
    packed, every = pack([picture("noise", *size) for size in SIZES]), slice(0, len(SIZES))
    transform = on_tensors(preparation(scaling))
    on_gpu = prepared_on(torch.device("cuda"), packed, every, transform).cpu()
    assert (255 * 0.25 * (on_gpu - prepared_on(CPU, packed, every, transform))).abs().max() < 1.001
