"""What is written: complete, the same bytes again, splits that share no scene, and pictures that match."""

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from sample.scenes.scene_world import DATASETS, SplitSizes, make_shots, write_sample
from tests.sample.scenes.conftest import small_parameters
from trivium.core.image_shards import Images
from trivium.formats.picture_corpora import read_corpus
from trivium.formats.pictures import removal_id


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def pixels(encoded: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(encoded)), np.int16)


@pytest.mark.parametrize("dataset", DATASETS)
def test_readers_find_what_was_written(dataset: str, tmp_path: Path):
    counts = write_sample(dataset, small_parameters(), tmp_path / "raw")
    if dataset == "flickr30k":
        (tmp_path / "raw" / "classes.json").write_text('["people", "animals", "vehicles", "instruments"]')
    corpus = read_corpus(tmp_path / "raw")
    shots = make_shots(dataset, small_parameters())
    assert not any(corpus.counts.values())
    assert [picture.name for picture in corpus.pictures] == [shot.name for shot in shots]
    splits = [picture.split for picture in corpus.pictures]
    assert [splits.count(split) for split in ("train", "validation", "test")] == [60, 10, 20]
    if dataset != "flickr30k":
        assert [picture.classes for picture in corpus.pictures] == [shot.scene.kinds for shot in shots]
        assert counts["co_occurrence_planted"] == (1.0 if dataset == "coco" else pytest.approx(0.5, abs=0.2))
    assert counts["mentioned_share"] == pytest.approx(0.95, abs=0.03)


def test_same_bytes_again(tmp_path: Path):
    for folder in ("first", "second"):
        write_sample("coco", small_parameters(), tmp_path / folder)
    assert files(tmp_path / "first") == files(tmp_path / "second")


def test_rendered_pictures_lack_one_kind_and_nothing_else(tmp_path: Path):
    write_sample("coco", small_parameters(), tmp_path / "raw")
    images, rendered = Images(tmp_path / "raw" / "images"), Images(tmp_path / "raw" / "rendered")
    shots = [shot for shot in make_shots("coco", small_parameters()) if shot.split == "test"]
    assert set(rendered.names) == {removal_id(shot.number, kind) for shot in shots for kind in shot.scene.kinds}
    for shot in shots:
        original = pixels(images.read(shot.name))
        for kind in shot.scene.kinds:
            changed = np.abs(pixels(rendered.read(removal_id(shot.number, kind))) - original).max(axis=2)
            outside = np.ones((48, 48), bool)
            for thing in shot.scene.things:
                if thing.kind == kind:  # JPEG works on squares of 8 pixels
                    top, left = thing.top // 8 * 8, thing.left // 8 * 8
                    outside[
                        top : -(-(thing.top + thing.height) // 8) * 8, left : -(-(thing.left + thing.width) // 8) * 8
                    ] = 0
            assert not changed[outside].any()
            assert changed[~outside].max() > 60


def test_worlds_and_datasets_differ():
    fingerprints = [
        {shot.scene.fingerprint() for shot in make_shots(dataset, small_parameters(seed=seed))}
        for dataset in ("coco", "control")
        for seed in (0, 1)
    ]
    assert len(set.union(*fingerprints)) == sum(map(len, fingerprints))


def test_more_pictures_leave_the_first_as_they_are():
    more = SplitSizes(train=80, validation=10, test=20)
    few, many = make_shots("control", small_parameters()), make_shots("control", small_parameters(control=more))
    assert [shot.scene for shot in few] == [shot.scene for shot in many[: len(few)]]
