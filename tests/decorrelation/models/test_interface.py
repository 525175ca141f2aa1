"""Every kind of model keeps what the interface promises, and is found by its name."""

import numpy as np
import pytest
import torch
from PIL import Image

from tests.decorrelation.tiny_models import CAPTIONS, SETTINGS, pictures, write_base
from trivium.decorrelation.models.interface import load, start
from trivium.decorrelation.models.kind import KINDS


@pytest.fixture(scope="module", params=KINDS)
def kind(request):
    return request.param


@pytest.fixture(scope="module")
def base(kind, tmp_path_factory):
    return write_base(kind, tmp_path_factory.mktemp("base") / kind)


@pytest.fixture
def model(kind, base):
    torch.manual_seed(1)
    return start(kind, base, SETTINGS[kind], CAPTIONS)


def pixels_of(model, images):
    return torch.stack([model.prepare(image, training=False) for image in images])


def loss_of(model, images, pictures_ids=(0, 1, 2, 3)):
    torch.manual_seed(2)
    return model.loss(
        pixels_of(model, images), model.tokenize(CAPTIONS), pictures=torch.tensor(pictures_ids), progress=1.0
    )


def test_embeddings_have_length_one_whatever_the_batch(model, kind):
    assert model.kind == kind
    model.module.eval()
    images, texts = pixels_of(model, pictures(4)), model.tokenize(CAPTIONS)
    encoded = model.encode_images(images), model.encode_texts(texts)
    for embeddings in encoded:
        assert embeddings.shape == (4, model.dimension)
        assert embeddings.dtype == torch.float32
        assert torch.allclose(embeddings.norm(dim=1), torch.ones(4), atol=1e-6)
    alone = torch.cat([model.encode_images(images[i : i + 1]) for i in range(4)])
    assert torch.allclose(alone, encoded[0], atol=1e-5)
    alone = torch.cat([model.encode_texts(model.tokenize([caption])) for caption in CAPTIONS])  # each without padding
    assert torch.allclose(alone, encoded[1], atol=1e-5)


def test_the_loss_of_embeddings_is_the_loss(model, kind):
    if kind == "blip":
        assert model.contrast is None
        return
    model.module.eval()
    images, texts = model.encode_images(pixels_of(model, pictures(4))), model.encode_texts(model.tokenize(CAPTIONS))
    loss = model.contrast(images, texts, pictures=torch.arange(4), progress=1.0)
    assert torch.equal(loss, loss_of(model, pictures(4)))


def test_a_saved_model_comes_back_bit_for_bit(model, kind, tmp_path):
    model.module.eval()
    model.save(tmp_path / "saved")
    back = load(tmp_path / "saved")
    assert (back.kind, back.dimension, back.prepare.augments) == (kind, model.dimension, False)
    assert not back.module.training
    images, texts = pixels_of(model, pictures(3)), ["A dog.", "", "zebra crossing ÄÖ 🦓"]
    assert torch.equal(pixels_of(back, pictures(3)), images)
    assert torch.equal(back.encode_images(images), model.encode_images(images))
    assert torch.equal(back.encode_texts(back.tokenize(texts)), model.encode_texts(model.tokenize(texts)))
    if model.match is not None:
        assert (back.match(images, [texts] * 3)[1] == model.match(images, [texts] * 3)[1]).all()
    back.save(tmp_path / "again")
    for file in (tmp_path / "saved").iterdir():
        assert (tmp_path / "again" / file.name).read_bytes() == file.read_bytes(), file.name


def test_odd_texts_are_tokens_too(model):
    odd = ["", "  ", "...", "🦓", "A dog" * 400, "Zebra!\n\tzebra", "isn’t"]
    tokens = model.tokenize(odd)
    assert all(len(value) == len(odd) for value in tokens.values())
    embeddings = model.encode_texts(tokens)
    assert embeddings.isfinite().all()
    assert torch.allclose(embeddings[0], embeddings[1], atol=1e-6)


@pytest.mark.parametrize("mode", ["L", "CMYK", "RGBA", "P", "1"])
def test_pictures_of_any_mode_and_size(model, mode):
    shape = model.prepare(pictures(1)[0], training=False).shape
    assert model.prepare(Image.new(mode, (31, 9)), training=False).shape == shape
    assert model.prepare(Image.new(mode, (5, 40)), training=True).shape == shape


def test_plain_preparation_in_two_steps_changes_no_bit(model):
    images = [*pictures(3, 32), Image.new("CMYK", (31, 9), (9, 80, 7, 200)), Image.effect_noise((50, 70), 90)]
    scaled = np.stack([model.prepare.scaled(image) for image in images])
    assert scaled.dtype == np.uint8
    assert torch.equal(model.prepare.standardised(torch.from_numpy(scaled)), pixels_of(model, images))


def test_crops_are_drawn_in_training_only(kind, base):
    settings = SETTINGS[kind].model_copy(update={"smallest_crop": 0.3})
    model = start(kind, base, settings, CAPTIONS)
    assert model.prepare.augments
    picture = pictures(1, 32)[0]
    drawn = torch.stack([model.prepare(picture, training=True) for _ in range(4)])
    assert len(drawn.unique(dim=0)) > 1
    torch.manual_seed(0)
    first = model.prepare(picture, training=True)
    torch.manual_seed(0)
    assert torch.equal(model.prepare(picture, training=True), first)
    plain = model.prepare(picture, training=False)
    assert torch.equal(model.prepare(picture, training=False), plain)


def test_gradient_checkpointing_changes_no_gradient(kind, base):
    def gradients(checkpointing):
        torch.manual_seed(1)
        settings = SETTINGS[kind].model_copy(update={"gradient_checkpointing": checkpointing})
        model = start(kind, base, settings, CAPTIONS)
        model.module.train()
        loss_of(model, pictures(4)).backward()
        return [each.grad for each in model.module.parameters() if each.requires_grad]

    for plain, checkpointed in zip(gradients(False), gradients(True), strict=True):
        assert torch.allclose(plain, checkpointed, atol=1e-6)
