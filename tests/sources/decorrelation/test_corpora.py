import io
from collections import Counter

import pytest
from PIL import Image

from tests.decorrelation.tiny_corpus import draw, picture_name
from trivium.core.errors import BadInput
from trivium.core.image_shards import write_images
from trivium.sources.decorrelation.corpora import find_images, fit_images

SIZE = (64, 48)
ORIENTATION = 0x0112


def encoded(image, kind="JPEG", orientation=None, **options):
    buffer = io.BytesIO()
    tags = Image.Exif()
    if orientation:
        tags[ORIENTATION] = orientation
    image.save(buffer, kind, exif=tags, **options)
    return buffer.getvalue()


def picture(mode="RGB", size=SIZE):
    """Dark at the left, bright at the right, a white corner at the top left."""
    image = Image.linear_gradient("L").rotate(90).resize(size)
    image.paste(255, (0, 0, size[0] // 4, size[1] // 4))
    return image.convert(mode)


def fit(data, size=SIZE):
    counts, unreadable = Counter(), []
    found = list(fit_images(iter([("a.jpg", data)]), {"a.jpg": size}, counts, unreadable, "images"))
    return (found[0][1] if found else None), {name: number for name, number in counts.items() if number}, unreadable


def test_a_fit_picture_keeps_its_bytes():
    data = encoded(picture(), quality=90)
    assert fit(data) == (data, {}, [])


@pytest.mark.parametrize(("mode", "kind"), [("L", "JPEG"), ("CMYK", "JPEG"), ("P", "PNG"), ("1", "PNG")])
def test_other_modes_become_rgb_without_loss(mode, kind):
    data = encoded(picture(mode), kind)
    fitted, counts, _ = fit(data)
    image = Image.open(io.BytesIO(fitted))
    assert (image.mode, image.size, counts) == ("RGB", SIZE, {"images_made_rgb": 1})
    assert image.tobytes() == Image.open(io.BytesIO(data)).convert("RGB").tobytes()


def test_picture_is_turned_where_its_annotations_are_of_the_turned_one():
    upright = picture(size=SIZE)
    lying = upright.transpose(Image.Transpose.ROTATE_90)  # orientation 6: to be shown turned clockwise
    fitted, counts, _ = fit(encoded(lying, "PNG", orientation=6))
    image = Image.open(io.BytesIO(fitted))
    assert (image.size, counts) == (SIZE, {"images_turned": 1})
    assert image.tobytes() == upright.tobytes()
    assert image.getexif().get(ORIENTATION, 1) == 1


@pytest.mark.parametrize(("size", "orientation"), [(SIZE, 6), (SIZE, 3), ((48, 48), 8)])
def test_stored_grid_is_kept_where_the_annotations_have_its_size(size, orientation):
    stored = picture(size=size)
    fitted, counts, _ = fit(encoded(stored, "PNG", orientation=orientation), size)
    image = Image.open(io.BytesIO(fitted))
    assert counts == {"images_orientation_ignored": 1}
    assert image.tobytes() == stored.tobytes()
    assert image.getexif().get(ORIENTATION, 1) == 1, "no later reader may turn it"


@pytest.mark.parametrize("orientation", [None, 3])
def test_picture_of_another_size_is_refused(orientation):
    with pytest.raises(
        BadInput, match=r"images:a\.jpg: image of another size; got \(32, 48\); expected \(64, 48\), the"
    ):
        fit(encoded(picture(size=(32, 48)), orientation=orientation))


@pytest.mark.parametrize(
    "spoil", [lambda data: data[: len(data) // 2], lambda data: b"", lambda data: b"GIF89a" + data]
)
def test_truncated_and_broken_pictures_are_left_out_and_named(spoil):
    assert fit(spoil(encoded(picture()))) == (None, {"images_unreadable": 1}, ["a.jpg"])


def test_a_picture_twice_is_refused_and_a_strange_one_counted():
    data, counts = encoded(picture()), Counter()
    with pytest.raises(BadInput, match=r"images:a\.jpg: image twice"):
        list(fit_images(iter([("a.jpg", data)] * 2), {"a.jpg": SIZE}, counts, [], "images"))
    assert list(fit_images(iter([("b.jpg", b"?")]), {"a.jpg": SIZE}, counts, [], "images")) == []
    assert counts["images_not_wanted"] == 1


def test_images_are_found_in_shards_folders_and_zips(tmp_path):
    import zipfile

    wanted = {picture_name(index): draw(index) for index in range(4)}
    write_images(tmp_path / "shards", wanted.items())
    names = list(wanted)
    (tmp_path / "mixed" / "train2014").mkdir(parents=True)
    for name in names[:2]:
        (tmp_path / "mixed" / "train2014" / name).write_bytes(wanted[name])
    (tmp_path / "mixed" / "readme.txt").write_text("no image")
    with zipfile.ZipFile(tmp_path / "mixed" / "val2014.zip", "w") as archive:
        for name in names[2:]:
            archive.writestr(f"val2014/{name}", wanted[name])
        archive.writestr("__MACOSX/val2014/x.jpg", b"")
    assert dict(find_images(tmp_path / "shards")) == wanted
    assert dict(find_images(tmp_path / "mixed")) == wanted
    with pytest.raises(BadInput, match=r"none: no images \(choices: shard-\*\.parquet, \*\.zip, \.jpg"):
        list(find_images(tmp_path / "none"))
    (tmp_path / "bad.zip").write_bytes(b"PK")
    with pytest.raises(BadInput, match=r"bad\.zip: broken archive"):
        list(find_images(tmp_path))
