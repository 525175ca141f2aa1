"""Pictures of shards by name: which are decoded, and when."""

import io

import pytest
from PIL import Image

from trivium.core.errors import BadInput
from trivium.core.image_shards import Images, write_images
from trivium.vision.shard_pictures import ShardPictures


def png(red: int) -> bytes:
    out = io.BytesIO()
    Image.new("L", (4, 3), red).save(out, "PNG")
    return out.getvalue()


def test_pictures_are_decoded_in_the_order_of_names_when_they_are_asked_for(tmp_path):
    write_images(tmp_path, [("a", png(1)), ("broken", b"text"), ("b", png(2)), ("c", png(3))], shard_size=2)
    pictures = ShardPictures(Images(tmp_path), ["c", "a", "broken", "b"])
    assert len(pictures) == 4
    assert [picture.getpixel((0, 0)) for picture in pictures[:2]] == [(3, 3, 3), (1, 1, 1)]
    assert pictures[3].getpixel((0, 0)) == (2, 2, 2)
    with pytest.raises(BadInput, match=rf"^{tmp_path}: not a readable picture: .*got 'broken'$"):
        pictures[1:]
    with pytest.raises(BadInput, match="no such image; got 'd'"):
        ShardPictures(Images(tmp_path), ["d"])[0]
