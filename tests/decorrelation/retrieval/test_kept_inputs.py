"""Inputs that are kept: the same as without, made once, and never another model's."""

import numpy as np
import pytest
import torch
from torchvision import transforms

from tests.decorrelation.tiny_retrieval import TinyModel, painted
from trivium.decorrelation.models.preparation import PlainPreparation
from trivium.decorrelation.retrieval.encoding import encode_captions, encode_pictures, scaled_pictures
from trivium.decorrelation.retrieval.kept_inputs import KeptInputs
from trivium.errors import BadInput
from trivium.files.image_shards import Images, write_images

NAMES = ["c", "a", "d"]


class Finer(TinyModel):
    plain = PlainPreparation([transforms.Resize((6, 5)), transforms.ToTensor(), transforms.Normalize(0, 1)])


class Shouting(TinyModel):
    tokenizer_digest = "shouted letters"

    def tokenize(self, texts):
        return {"counts": super().tokenize(texts)["counts"] + 1}


@pytest.fixture
def images(tmp_path):
    write_images(tmp_path / "images", [(name, painted(17 * number)) for number, name in enumerate("abcd")])
    return Images(tmp_path / "images")


@pytest.fixture
def kept(tmp_path):
    return KeptInputs(tmp_path / "kept")


def same(kept, model, images, names):
    for _ in range(2):  # made, then read
        found, expected = list(kept.scaled_pictures(model, images, names)), list(scaled_pictures(model, images, names))
        assert [name for name, _ in found] == [name for name, _ in expected]
        assert all(np.array_equal(one, two) for (_, one), (_, two) in zip(found, expected, strict=True))


def test_pictures_are_those_of_the_model_the_folder_and_the_names(kept, images, tmp_path):
    write_images(tmp_path / "others", [(name, painted(90 + number)) for number, name in enumerate("abcd")])
    for model in (TinyModel(), Finer()):
        for folder in (images, Images(tmp_path / "others")):
            for names in (NAMES, ["b"], []):
                same(kept, model, folder, names)
    assert len(list(kept.folder.glob("*.npy"))) == 12


def test_vectors_are_the_same_to_the_bit(kept, images):
    model, texts = TinyModel(dropout=0), ["a dog", "a cat on a mat", "", "🦓"]
    for _ in range(2):
        found = encode_pictures(model, images, NAMES, 2, kept.scaled_pictures)
        assert np.array_equal(found, encode_pictures(model, images, NAMES, 2))
        assert np.array_equal(encode_captions(model, texts, 3, kept.tokenize), encode_captions(model, texts, 3))


def test_tokens_are_those_of_the_tokenizer_and_the_texts(kept):
    for model in (TinyModel(), Shouting()):
        for texts in (["a dog", "a cat"], ["a cat", "a dog"], ["a doga cat"]):
            for _ in range(2):
                assert torch.equal(kept.tokenize(model, texts)["counts"], model.tokenize(texts)["counts"])


def test_what_is_kept_is_not_made_again(kept, images, monkeypatch):
    first = list(kept.scaled_pictures(TinyModel(), images, NAMES))
    monkeypatch.setattr(Images, "stream", lambda self: pytest.fail("read again"))
    again = kept.scaled_pictures(TinyModel(), images, NAMES)
    assert all(np.array_equal(one, two) for (_, one), (_, two) in zip(first, again, strict=True))


def test_a_picture_that_is_missing_leaves_nothing(kept, images):
    with pytest.raises(BadInput, match="no such image.*got 'z'"):
        list(kept.scaled_pictures(TinyModel(), images, ["a", "z"]))
    assert not list(kept.folder.glob("*.npy"))
    same(kept, TinyModel(), images, ["a"])
