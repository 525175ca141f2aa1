"""Networks of whole pictures."""

from pathlib import Path

import numpy as np
import open_clip
import pytest
import torch
from PIL import Image
from safetensors.torch import load_file
from torchvision import models

from tests.kvqae.tiny_encoders import write_clip, write_imagenet
from trivium.vision.encoders.clip import Clip
from trivium.vision.encoders.imagenet import ImageNet

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
    encoder = ImageNet.load(imagenet, CPU)
    assert encoder.dimension == 512
    assert np.allclose(encoder([picture])[0], expected / np.linalg.norm(expected), atol=1e-5)


def test_clip_is_open_clips_image_tower(clip: Path) -> None:
    images = pictures((40, 64), (32, 32), (100, 33))
    model, _, prepare = open_clip.create_model_and_transforms(f"local-dir:{clip}")
    with torch.no_grad():
        expected = model.eval().encode_image(torch.stack([prepare(image) for image in images]), normalize=True)
    assert np.allclose(Clip.load(clip, CPU)(images), expected.numpy(), atol=1e-5)


@pytest.mark.parametrize("name", ["imagenet", "clip"])
def test_any_size_and_any_batch(name: str, request: pytest.FixtureRequest) -> None:
    load = {"imagenet": ImageNet.load, "clip": Clip.load}[name]
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
    for load, folder in ((ImageNet.load, imagenet), (Clip.load, clip)):
        cosines = (load(folder, CPU)(images) * load(folder, torch.device("cuda"))(images)).sum(axis=1)
        assert (cosines > 0.999).all()  # bf16
