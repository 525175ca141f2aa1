"""Pictures in shards, encoded as `kvqae-image_features` does it."""

from collections.abc import Sequence
from itertools import cycle, islice
from pathlib import Path

from trivium.core.image_shards import Images, write_images
from trivium.core.tables import count_rows
from trivium.kvqae.retrieval.image_features import ImageFeaturesParameters, encode_shards, shard_parts
from trivium.vision.image_encoder import EncoderParameters

SHARD = 256  # pictures
PARAMETERS = ImageFeaturesParameters(settings={}, batch_size=256, max_side=1024, max_pixels=100_000_000)


def write(folder: Path, given: Sequence[bytes], size: int) -> None:
    """So many pictures, the given ones over and over."""
    names = (f"{number}.jpg" for number in range(size))
    write_images(folder, zip(names, islice(cycle(given), size), strict=True), shard_size=SHARD)


def encode(folder: Path, out: Path, count: int, encoder: str, settings: EncoderParameters) -> float:
    """How many pictures were encoded: those of the first shards, `count` at most, or one shard."""
    shards = Images(folder).shards()[: max(1, count // SHARD)]
    for part in shard_parts(shards, on_gpu=True):
        encode_shards(part, work=out, encoder=encoder, settings=settings, parameters=PARAMETERS)
    return float(sum(map(count_rows, shards)))
