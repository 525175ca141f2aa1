"""In-painting: what is outside the mask stays bit for bit; a killed worker ends the stage, and it goes on afterwards."""

import io
import itertools
import os
import signal
from dataclasses import replace

import numpy as np
import pytest
import torch
from PIL import Image

from stages.decorrelation import inpaint
from trivium.core.engine import LocalEngine
from trivium.core.errors import BadInput
from trivium.core.image_shards import Images, write_images
from trivium.core.stage import Context
from trivium.core.tables import read_json
from trivium.core.tracking import Tracker
from trivium.decorrelation.painting.inpainter import Inpainter, find_uv
from trivium.decorrelation.painting.inpainting import InpaintParameters
from trivium.decorrelation.removals import write_removals
from trivium.formats import masks
from trivium.formats.pictures import Removal, removal_id

SIZES = ((33, 47), (48, 64), (47, 33), (12, 15), (48, 64), (31, 65))  # (height, width), odd ones too
needs_uv = pytest.mark.skipif(find_uv() is None, reason="no uv: run make setup")


class Greyed(torch.nn.Module):
    """LaMa's signature: images in 0…1 and masks in {0, 1} → images; each pixel depends on its neighbours alone."""

    def forward(self, image: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        hidden = image * (1 - mask)
        near = torch.nn.functional.avg_pool2d(hidden, 5, stride=1, padding=2)
        return mask * (0.3 + 0.7 * near) + (1 - mask) * (1 - image)  # outside the mask it is wrong on purpose


def picture(number, height, width):
    return np.random.default_rng(number).integers(0, 256, (height, width, 3), dtype=np.uint8)


def encoded(pixels, form="PNG", **options):
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, form, **options)
    return buffer.getvalue()


def removal(number, class_name="dog", split="test", drawn=True):
    height, width = SIZES[number]
    mask = masks.rasterise_boxes([(2, 1, 4.5, 5)], height, width)
    return Removal(
        id=removal_id(number, class_name), picture=number, name=f"{number}.png", split=split, class_name=class_name,
        removed=(class_name,), remaining=("cat",), mask=masks.encode(mask), height=height, width=width,
        share=float(mask.mean()), drawn=drawn,
    )  # fmt: skip


@pytest.fixture
def world(tmp_path):
    return write_world(tmp_path)


def write_world(tmp_path):
    """Six pictures: two to train with, one of them twice; four test pictures; a box without any object."""
    pictures = [(f"{number}.png", encoded(picture(number, *size))) for number, size in enumerate(SIZES)]
    write_images(tmp_path / "raw" / "images", pictures)
    train = [removal(0, split="train"), removal(1, split="train"), removal(1, "hot dog", "train", drawn=False)]
    test = [removal(number) for number in (2, 3, 4, 5)] + [removal(5, "cat"), removal(0, split="validation")]
    write_removals(tmp_path / "removals" / "removals.parquet", [*train, *test[:-1], replace(test[-1], id="0_x")])
    empty = replace(removal(2), id="2_empty", class_name="", removed=())
    write_removals(tmp_path / "removals" / "empty.parquet", [empty])
    lama = tmp_path / "lama"
    lama.mkdir()
    torch.jit.script(Greyed()).save(lama / "big-lama.pt")
    return tmp_path


def parameters(**changes):
    values = {
        "dilate": 0, "shard_size": 2, "fillings": {"lama": {"batch": 2}},
    }  # fmt: skip
    return InpaintParameters.model_validate(values | changes)


def stage(world, filling, own=None, out=None, engine=None):
    work = world / "work"
    work.mkdir(exist_ok=True)
    return inpaint.main(
        own or parameters(),
        Context(tracker=Tracker(), work=work, engine=engine or LocalEngine(1)),
        dataset="coco",
        filling=filling,
        raw=world / "raw",
        removals=world / "removals",
        base=world,
        out=out or world / "out",
    )


def painted(folder):
    """By subset and name, the pixels."""
    found = {}
    for subset in ("train", "test", "empty"):
        for name, data in Images(folder / subset).stream():
            assert data.startswith(b"\x89PNG")
            found[subset, name] = np.asarray(Image.open(io.BytesIO(data)))
    return found


def in_box(name, dilate=0):
    height, width = SIZES[int(name.split("_")[0])]
    mask = np.zeros((height, width), bool)
    mask[max(1 - dilate, 0) : 6 + dilate, max(2 - dilate, 0) : 7 + dilate] = True  # 4.5 pixels wide: the fifth is hit
    return mask


NAMES = {
    ("train", "0_dog"), ("train", "1_dog"), ("test", "2_dog"), ("test", "3_dog"), ("test", "4_dog"),
    ("test", "5_dog"), ("test", "5_cat"), ("empty", "2_empty"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("filling", "dilate"),
    [
        *itertools.product(("zero", "mean", "blur"), (0, 2)),
        pytest.param("cv2", 0, marks=needs_uv),
        pytest.param("lama", 2, marks=needs_uv),
    ],
)
def test_outside_the_mask_every_pixel_is_the_same(filling, dilate, world):
    counts = stage(world, filling, parameters(dilate=dilate))
    assert counts == {"train": 2, "test": 5, "empty": 1}
    assert read_json(world / "out" / "filling.json") == {"filling": filling, "counts": counts}
    found = painted(world / "out")
    assert set(found) == NAMES
    for (_, name), pixels in found.items():
        number = int(name.split("_")[0])
        # A box without objects does not grow: it would reach those beside it.
        before, mask = picture(number, *SIZES[number]), in_box(name, 0 if name.endswith("empty") else dilate)
        np.testing.assert_array_equal(pixels[~mask], before[~mask])
        assert (pixels[mask] != before[mask]).mean() > 0.8


def test_fillings_are_what_they_say(world):
    stage(world, "zero")
    assert not painted(world / "out")["test", "3_dog"][1:6, 2:7].any()
    stage(world, "mean")
    before, mask = picture(3, *SIZES[3]), in_box("3_dog")
    expected = np.rint(before[mask].sum(axis=0) / mask.sum())
    assert (painted(world / "out")["test", "3_dog"][mask] == expected).all()


def test_shards_and_processes_change_nothing(world):
    stage(world, "blur", out=world / "a")
    stage(world, "blur", parameters(shard_size=99), out=world / "b", engine=LocalEngine(2))
    one, other = painted(world / "a"), painted(world / "b")
    assert set(one) == set(other)
    for name in one:
        np.testing.assert_array_equal(one[name], other[name])


@needs_uv
def test_killed_worker_ends_the_stage_and_it_goes_on_from_there(world, monkeypatch):
    asked, paint = [], Inpainter.paint

    def killed_at_the_third_shard(self, pictures):
        asked.append(len(pictures))
        if len(asked) == 3:
            os.killpg(self.process.pid, signal.SIGKILL)
        return paint(self, pictures)

    monkeypatch.setattr(Inpainter, "paint", killed_at_the_third_shard)
    with pytest.raises(BadInput, match="in-painting worker ended with exit code -9.*start the stage again to go on"):
        stage(world, "cv2")
    assert not (world / "out").exists()
    assert sorted(path.name for path in (world / "work").iterdir()) == ["test-00000", "train-00000"]

    asked.clear()
    monkeypatch.setattr(Inpainter, "paint", lambda self, pictures: asked.append(len(pictures)) or paint(self, pictures))
    stage(world, "cv2")
    assert asked == [2, 1, 1]  # of test, of test, of empty
    assert set(painted(world / "out")) == NAMES


def test_other_weights_do_not_go_on_with_what_was_painted(world, monkeypatch):
    asked = []

    class Grey:
        def __init__(self, arguments):
            pass

        def paint(self, pictures):
            if len(asked) == 2:
                raise KeyboardInterrupt
            asked.append(len(pictures))
            return [np.full_like(pixels, 128) for pixels, _ in pictures]

    monkeypatch.setattr("trivium.decorrelation.painting.fillings.lama.Inpainter", Grey)
    with pytest.raises(KeyboardInterrupt):
        stage(world, "lama")
    (world / "lama" / "big-lama.pt").write_bytes(b"better ones")
    asked[:] = [0, 0, 0]
    stage(world, "lama")
    assert asked[3:] == [2, 2, 2, 1, 1]  # from the beginning


def broken(world, **changes):
    write_removals(world / "removals" / "removals.parquet", [replace(removal(2), **changes)])


@pytest.mark.parametrize("mode", ["L", "CMYK", "rotated"])
def test_grey_cmyk_and_rotated_pictures_are_painted_as_they_are_shown(mode, world):
    shown = Image.fromarray(picture(2, 47, 33))
    buffer = io.BytesIO()
    if mode == "rotated":
        exif = Image.Exif()
        exif[0x0112] = 6  # to be turned a quarter clockwise
        shown.transpose(Image.Transpose.ROTATE_90).save(buffer, "JPEG", exif=exif, quality=100, subsampling=0)
    else:
        shown.convert(mode).save(buffer, "JPEG", quality=100)
    write_images(world / "raw" / "images", [("2.png", buffer.getvalue())])
    broken(world, name="2.png")
    write_removals(world / "removals" / "empty.parquet", [])
    stage(world, "zero")
    ((_, data),) = Images(world / "out" / "test").stream()
    pixels, mask = np.asarray(Image.open(io.BytesIO(data))).astype(int), in_box("2_dog")
    near = np.asarray(shown.convert("L").convert("RGB") if mode == "L" else shown)
    assert not pixels[mask].any()
    assert np.abs(pixels - near)[~mask].mean() < 8
