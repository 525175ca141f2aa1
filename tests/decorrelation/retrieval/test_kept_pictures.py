"""Pictures that are kept: the same as without, made once, by folder and names."""

import numpy as np
import pytest

from tests.decorrelation.tiny_retrieval import TinyModel, painted
from trivium.decorrelation.retrieval.encoding import encode_pictures, scaled_pictures
from trivium.decorrelation.retrieval.kept_pictures import KeptPictures
from trivium.errors import BadInput
from trivium.files.image_shards import Images, write_images

NAMES = ["c", "a", "d"]


@pytest.fixture
def images(tmp_path):
    write_images(tmp_path / "images", [(name, painted(17 * number)) for number, name in enumerate("abcd")])
    return Images(tmp_path / "images")


@pytest.fixture
def kept(tmp_path):
    return KeptPictures(tmp_path / "kept")


def same(kept, model, images, names):
    for _ in range(2):  # made, then read
        found, expected = list(kept.scaled(model, images, names)), list(scaled_pictures(model, images, names))
        assert [name for name, _ in found] == [name for name, _ in expected]
        assert all(np.array_equal(one, two) for (_, one), (_, two) in zip(found, expected, strict=True))


def test_pictures_are_those_of_the_folder_and_the_names(kept, images, tmp_path):
    write_images(tmp_path / "others", [(name, painted(90 + number)) for number, name in enumerate("abcd")])
    for folder in (images, Images(tmp_path / "others")):
        for names in (NAMES, ["b"], []):
            same(kept, TinyModel(), folder, names)
    assert len(list(kept.folder.glob("*.npy"))) == 6


def test_vectors_are_the_same_to_the_bit(kept, images):
    model = TinyModel(dropout=0)
    for _ in range(2):
        found = encode_pictures(model, images, NAMES, 2, kept.scaled)
        assert np.array_equal(found, encode_pictures(model, images, NAMES, 2))


def test_what_is_kept_is_not_made_again(kept, images, monkeypatch):
    first = list(kept.scaled(TinyModel(), images, NAMES))
    monkeypatch.setattr(Images, "stream", lambda self: pytest.fail("read again"))
    again = kept.scaled(TinyModel(), images, NAMES)
    assert all(np.array_equal(one, two) for (_, one), (_, two) in zip(first, again, strict=True))


def test_a_picture_that_is_missing_leaves_nothing(kept, images):
    with pytest.raises(BadInput, match="no such image.*got 'z'"):
        list(kept.scaled(TinyModel(), images, ["a", "z"]))
    assert not list(kept.folder.glob("*.npy"))
    same(kept, TinyModel(), images, ["a"])
