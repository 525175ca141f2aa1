import pytest

from trivium.errors import BadInput
from trivium.files import image_shards


@pytest.mark.parametrize("shard_size", [1, 40, 100])
def test_images_by_name_and_in_order(tmp_path, shard_size):
    images = [(f"{number}.jpg", bytes([number]) * 3) for number in range(90)]
    assert image_shards.write_images(tmp_path / "images", images, shard_size=shard_size) == 90
    stored = image_shards.Images(tmp_path / "images")
    assert list(stored.stream()) == images
    assert [stored.read(name) for name in ("89.jpg", "0.jpg", "41.jpg")] == [bytes([n]) * 3 for n in (89, 0, 41)]
    assert "90.jpg" not in stored
    with pytest.raises(BadInput, match="no such image"):
        stored.read("90.jpg")


def test_image_name_twice(tmp_path):
    image_shards.write_images(tmp_path / "images", [("a", b"1"), ("a", b"2")])
    with pytest.raises(BadInput, match="image name twice"):
        image_shards.Images(tmp_path / "images")
