"""Pictures in shards, encoded as `kvqae-image_features` does it."""

import io
from collections.abc import Sequence
from itertools import cycle, islice
from pathlib import Path

import numpy as np
from PIL import Image

from trivium.core.image_shards import Images, write_images
from trivium.core.tables import count_rows, in_groups
from trivium.kvqae.retrieval.image_features import SHARDS, ImageFeaturesParameters, encode_shards
from trivium.vision.image_encoder import EncoderParameters

SHARD = 256  # pictures
PARAMETERS = ImageFeaturesParameters(settings={}, batch_size=256, max_side=1024, max_pixels=100_000_000)


def photographs(count: int = 512, side: int = 640) -> list[bytes]:
    """Make square JPEGs of enlarged noise, which have some detail."""
    rng = np.random.default_rng(0)
    encoded = []
    for _ in range(count):
        noise = Image.fromarray(rng.integers(0, 256, (side // 8, side // 8, 3), dtype=np.uint8))
        out = io.BytesIO()
        noise.resize((side, side), Image.Resampling.BICUBIC).save(out, "JPEG", quality=90)
        encoded.append(out.getvalue())
    return encoded


def write(folder: Path, pictures: Sequence[bytes], size: int) -> None:
    """Write `size` pictures, the given ones in turn."""
    names = (f"{number}.jpg" for number in range(size))
    write_images(folder, zip(names, islice(cycle(pictures), size), strict=True), shard_size=SHARD)


def encode(folder: Path, out: Path, count: int, encoder: str, settings: EncoderParameters) -> float:
    """Encode pictures and return how many: those of the first shards, `count` at most, or one shard."""
    shards = Images(folder).shards()[: max(1, count // SHARD)]
    for part in in_groups(shards, SHARDS):
        encode_shards(part, work=out, encoder=encoder, settings=settings, parameters=PARAMETERS)
    return float(sum(map(count_rows, shards)))
