"""Networks of whole pictures, and pictures prepared on a device as Pillow prepares them."""

import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import open_clip
import pytest
import torch
from numpy.typing import NDArray
from PIL import Image
from safetensors.torch import load_file
from torchvision import models, transforms
from torchvision.transforms import InterpolationMode

from tests.kvqae.tiny_encoders import write_clip, write_imagenet, write_tiny
from trivium.core.arithmetic import PORTABLE
from trivium.vision import whole_images
from trivium.vision.decoding import decode
from trivium.vision.encoder_registry import ENCODERS
from trivium.vision.encoders.clip import load_clip
from trivium.vision.encoders.imagenet import load_imagenet
from trivium.vision.whole_images import device_prepares, on_tensors, pack, prepared_on

CPU = torch.device("cpu")


def pictures(*sizes: tuple[int, int]) -> list[Image.Image]:
    rng = np.random.default_rng(0)
    return [Image.fromarray(rng.integers(0, 256, (height, width, 3), dtype=np.uint8)) for width, height in sizes]


@pytest.fixture(scope="module")
def imagenet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_imagenet(tmp_path_factory.mktemp("base") / "imagenet")


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_clip(tmp_path_factory.mktemp("base") / "clip")


def test_imagenet_is_the_maximum_of_the_last_map(imagenet: Path) -> None:
    [picture] = pictures((64, 56))  # as high as the input: no scaling, only the crop
    resnet = models.resnet18(num_classes=5).eval()
    resnet.load_state_dict(load_file(imagenet / "model.safetensors"))
    maps: list[torch.Tensor] = []
    resnet.layer4.register_forward_hook(lambda module, inputs, output: maps.append(output))
    pixels = np.asarray(picture)[:, 4:60] / 255
    pixels = (pixels - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225]
    with torch.no_grad():
        resnet(torch.tensor(pixels.transpose(2, 0, 1)[None], dtype=torch.float32))
    expected = maps[0].numpy().max(axis=(2, 3))[0]
    encoder = load_imagenet(imagenet, CPU)
    assert encoder.dimension == 512
    assert np.allclose(encoder([picture])[0], expected / np.linalg.norm(expected), atol=1e-5)


def test_clip_is_open_clips_image_tower(clip: Path) -> None:
    images = pictures((40, 64), (32, 32), (100, 33))
    model, _, prepare = open_clip.create_model_and_transforms(f"local-dir:{clip}")
    with torch.no_grad():
        expected = model.eval().encode_image(torch.stack([prepare(image) for image in images]), normalize=True)
    assert np.allclose(load_clip(clip, CPU)(images), expected.numpy(), atol=1e-5)


@pytest.mark.parametrize("name", ["imagenet", "clip"])
def test_any_size_and_any_batch(name: str, request: pytest.FixtureRequest) -> None:
    load = {"imagenet": load_imagenet, "clip": load_clip}[name]
    encoder = load(request.getfixturevalue(name), CPU)
    images = pictures((1, 1), (144, 144), (1024, 1), (3, 900), (70, 50))
    together = encoder(images)
    assert together.dtype == np.float32
    assert np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    assert np.allclose(together, np.concatenate([encoder([image]) for image in images]), atol=1e-5)
    assert encoder([]).shape == (0, encoder.dimension)


@pytest.mark.gpu
def test_gpu_agrees(imagenet: Path, clip: Path) -> None:
    images = pictures((144, 144), (70, 50))
    for load, folder in ((load_imagenet, imagenet), (load_clip, clip)):
        cosines = (load(folder, CPU)(images) * load(folder, torch.device("cuda"))(images)).sum(axis=1)
        assert (cosines > 0.999).all()  # bf16


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


@pytest.mark.parametrize("name", ["imagenet", "clip", "siglip2", "eva_clip", "dinov2", "dinov3"])
def test_an_encoder_gives_nearly_the_same(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_tiny(name, tmp_path / name)
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
