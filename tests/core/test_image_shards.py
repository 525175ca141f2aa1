import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from trivium.core import image_shards
from trivium.core.errors import BadInput


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


@pytest.mark.parametrize(
    ("names", "data", "message"),
    [
        ([1, 2], [b"1", b"2"], "field 'name': column of another type; got 'int64'; expected string or large_string"),
        (["a", None], [b"1", b"2"], r"shard-00000\.parquet:2: field 'name': image without a name; got None"),
    ],
)
def test_columns_of_other_types_and_empty_names_are_refused(tmp_path, names, data, message):
    pq.write_table(pa.table({"name": names, "data": data}), tmp_path / "shard-00000.parquet")
    with pytest.raises(BadInput, match=message):
        image_shards.Images(tmp_path)


def test_a_damaged_page_is_noticed_though_it_can_be_read(tmp_path):
    """JPEG is stored as it is: without its page's checksum, a flipped bit would be another picture."""
    image_shards.write_images(tmp_path, [("a.jpg", b"0123456789" * 10)])
    shard = tmp_path / "shard-00000.parquet"
    data = shard.read_bytes()
    shard.write_bytes(data.replace(b"0123456789", b"0123456788", 1))
    images = image_shards.Images(tmp_path)
    with pytest.raises(BadInput, match=r"shard-00000\.parquet: not a readable Parquet file.*CRC"):
        images.read("a.jpg")
    with pytest.raises(BadInput, match=r"shard-00000\.parquet: not a readable Parquet file.*CRC"):
        list(images.stream())
