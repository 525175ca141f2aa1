import io
from dataclasses import replace

import pytest
from PIL import Image

from tests.decorrelation.tiny_corpus import SCENES, draw, picture_name, write_coco
from trivium.core.errors import BadInput
from trivium.core.image_shards import write_images
from trivium.formats.picture_corpora import read_corpus
from trivium.sources.decorrelation.checks import validate_decorrelation


@pytest.fixture
def folder(tmp_path):
    return write_coco(tmp_path / "coco")


def images(folder, **changes):
    """The tiny corpus's images with some replaced (by position, `at_3`), or left out (None)."""
    data = {index: changes.get(f"at_{index}", draw(index)) for index in range(len(SCENES))}
    write_images(
        folder / "images", [(picture_name(index), picture) for index, picture in data.items() if picture is not None]
    )


def changed(corpus, index, **fields):
    pictures = list(corpus.pictures)
    pictures[index] = replace(pictures[index], **fields)
    return replace(corpus, pictures=tuple(pictures))


def png(mode="RGB", size=(64, 48)):
    buffer = io.BytesIO()
    Image.new(mode, size, 7).save(buffer, "PNG")
    return buffer.getvalue()


def test_good_folder_is_counted(folder, capsys):
    counts = validate_decorrelation(folder, read_corpus(folder))
    expected = {
        "pictures_train": 6, "pictures_validation": 2, "pictures_test": 4, "captions_train": 30, "captions_test": 20,
        "objects_train": 14, "objects_test": 9, "objects_crowd": 1, "pictures_without_objects": 0,
        "pictures_with_fewer_captions": 0, "captions_not_english": 0, "classes_without_picture": 1,
        "classes_everywhere": 0, "images_in_train_and_test": 0, "scenes_in_train_and_test": 0, "images_twice": 0,
        "images_not_in_split_file": 0, "captions_empty": 0,
    }  # fmt: skip
    assert expected.items() <= counts.items()
    assert "classes without picture of training: hot dog" in capsys.readouterr().err


def worded(corpus, foreign, english):
    """The corpus with so many captions in German and in English, spread over its pictures."""
    texts = ["Ein Hund neben einer Frisbee"] * foreign + ["A dog next to a frisbee"] * english
    sample = corpus.pictures[0].captions[0]
    captions = [replace(sample, id=100 + number, text=text) for number, text in enumerate(texts)]
    count = len(corpus.pictures)
    pictures = [
        replace(picture, captions=tuple(captions[place::count])) for place, picture in enumerate(corpus.pictures)
    ]
    return replace(corpus, pictures=tuple(pictures))


@pytest.mark.parametrize(("foreign", "english"), [(11, 9), (20, 0), (60, 1)])
def test_a_set_mostly_not_in_english_is_refused(folder, foreign, english):
    message = (
        rf"karpathy\.json:sentence 100: field 'raw': {foreign} of {foreign + english} captions are not English; "
        r"the first; got 'Ein Hund neben einer Frisbee'; expected captions in English"
    )
    with pytest.raises(BadInput, match=message):
        validate_decorrelation(folder, worded(read_corpus(folder), foreign, english))


def test_image_and_scene_in_two_splits_are_found(folder):
    corpus = read_corpus(folder)
    images(folder, at_8=draw(0), at_9=draw(7))
    counts = validate_decorrelation(folder, changed(corpus, 6, objects=corpus.pictures[1].objects[::-1]))
    found = {name: number for name, number in counts.items() if "_in_" in name and number}
    assert found == {
        "images_in_train_and_test": 1, "images_in_validation_and_test": 1, "scenes_in_train_and_validation": 1,
    }  # fmt: skip
    assert counts["images_twice"] == 2


def test_a_picture_without_image_is_refused(folder):
    images(folder, at_3=None)
    message = r"images: 1 pictures have no image; the first; got 'COCO_train2014_000000000004\.jpg'"
    with pytest.raises(BadInput, match=message):
        validate_decorrelation(folder, read_corpus(folder))
