"""Pictures of annotation tasks: the address of each, or the picture itself in the task."""

import base64
import io
from collections import Counter
from collections.abc import Callable
from urllib.parse import quote

from trivium.core.image_shards import Images
from trivium.vision.decoding import Unreadable, decode_picture

NO_PICTURE = "data:,"  # what stands for an image that is not there or cannot be read: nothing is shown
_MAX_PIXELS = 200_000_000


def address_of(name: str, address: str) -> str:
    """The address of an image; its name takes the place of `{name}` in `address`."""
    return address.replace("{name}", quote(name, safe=""))


def embedder(images: Images, side: int, counts: Counter[str]) -> Callable[[str], str]:
    """Image name → address that holds the picture; each is decoded once.

    Args:
        images: shards.
        side: pixels of the picture's longer side at the most.
        counts: counts `unreadable` pictures, which show nothing, and `broken_exif`.
    """
    made: dict[str, str] = {}

    def embed(name: str) -> str:
        if name not in made:
            made[name] = _embedded(images.read(name), side, counts)
        return made[name]

    return embed


def _embedded(data: bytes, side: int, counts: Counter[str]) -> str:
    try:
        picture = decode_picture(data, max_side=side, max_pixels=_MAX_PIXELS)
    except Unreadable:
        counts["unreadable"] += 1
        return NO_PICTURE
    counts["broken_exif"] += picture.broken_exif
    out = io.BytesIO()
    picture.image.save(out, "JPEG", quality=80)
    return "data:image/jpeg;base64," + base64.b64encode(out.getvalue()).decode()
