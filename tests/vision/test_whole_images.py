import json
from pathlib import Path

import numpy as np
import open_clip
import pytest
import torch
from PIL import Image
from safetensors.torch import load_file, save_file
from torchvision import models

from tests.kvqae.tiny_encoders import write_clip, write_imagenet
from trivium.core.errors import BadInput
from trivium.vision.encoders.clip import load_clip
from trivium.vision.encoders.imagenet import load_imagenet

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


def changed(folder: Path, weights: str, layer: str, copy: Path) -> Path:
    """A copy of an encoder's folder in which one layer has an output too many."""
    copy.mkdir()
    for path in folder.iterdir():
        (copy / path.name).write_bytes(path.read_bytes())
    state = load_file(folder / weights)
    state[layer] = torch.cat([state[layer], state[layer][:1]])
    save_file(state, copy / weights)
    return copy


def test_weights_of_another_shape_name_the_layer(imagenet: Path, clip: Path, tmp_path: Path) -> None:
    broken = changed(imagenet, "model.safetensors", "layer2.0.conv1.weight", tmp_path / "imagenet")
    with pytest.raises(BadInput, match=r"model\.safetensors.*do not fit.*layer2\.0\.conv1\.weight"):
        load_imagenet(broken, CPU)
    broken = changed(clip, "open_clip_model.safetensors", "visual.ln_post.weight", tmp_path / "clip")
    with pytest.raises(BadInput, match=r"clip.*do not fit.*visual\.ln_post\.weight"):
        load_clip(broken, CPU)


def test_another_architecture_than_the_weights(imagenet: Path, tmp_path: Path) -> None:
    copy = changed(imagenet, "model.safetensors", "fc.bias", tmp_path / "imagenet")
    config = copy / "config.json"
    config.write_text(json.dumps({"architecture": "vgg16", "size": 56}))
    with pytest.raises(BadInput, match=r"config\.json: field 'architecture'.*'vgg16'.*choices: .*resnet50"):
        load_imagenet(copy, CPU)
    config.write_text(json.dumps({"architecture": "resnet18", "size": 0}))
    with pytest.raises(BadInput, match=r"field 'size'.*got 0"):
        load_imagenet(copy, CPU)


def test_files_that_are_missing_or_cut(imagenet: Path, clip: Path, tmp_path: Path) -> None:
    (tmp_path / "imagenet").mkdir()
    (tmp_path / "imagenet" / "config.json").write_bytes((imagenet / "config.json").read_bytes())
    with pytest.raises(BadInput, match=r"model\.safetensors"):
        load_imagenet(tmp_path / "imagenet", CPU)
    (tmp_path / "imagenet" / "model.safetensors").write_bytes((imagenet / "model.safetensors").read_bytes()[:1000])
    with pytest.raises(BadInput, match="not readable as safetensors"):
        load_imagenet(tmp_path / "imagenet", CPU)
    (tmp_path / "clip").mkdir()
    with pytest.raises(BadInput, match="no weights"):
        load_clip(tmp_path / "clip", CPU)
    (tmp_path / "clip" / "open_clip_model.safetensors").write_bytes(b"x" * 20)
    with pytest.raises(BadInput, match=r"open_clip_config\.json: no such file"):
        load_clip(tmp_path / "clip", CPU)
    (tmp_path / "clip" / "open_clip_config.json").write_bytes((clip / "open_clip_config.json").read_bytes())
    with pytest.raises(BadInput, match="not a usable model of open_clip"):
        load_clip(tmp_path / "clip", CPU)


@pytest.mark.gpu
def test_gpu_agrees(imagenet: Path, clip: Path) -> None:
    images = pictures((144, 144), (70, 50))
    for load, folder in ((load_imagenet, imagenet), (load_clip, clip)):
        cosines = (load(folder, CPU)(images) * load(folder, torch.device("cuda"))(images)).sum(axis=1)
        assert (cosines > 0.999).all()  # bf16
