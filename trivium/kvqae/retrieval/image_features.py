"""Encode all images of a folder by one frozen encoder (kvqae.md §3)."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field

from trivium.core.atomic import write_folder
from trivium.core.matrices import join_matrices
from trivium.core.parameters import Parameters, shared
from trivium.core.tables import count_rows, read_table, write_json, write_table
from trivium.kvqae.knowledge_base.illustrated_base import PICTURES, VECTORS
from trivium.nets.feeding import feed, feeders
from trivium.vision.decoding import FLAWS, REASONS
from trivium.vision.encoder_registry import SECTION
from trivium.vision.image_encoder import EncoderParameters, FaceEncoderParameters
from trivium.vision.image_encoding import Features, Prepared, embed_prepared, load_encoder, prepare_images

FLAWED = "flaws.json"  # in the folder of a shard: number of images with each flaw
SHARDS = 16  # that a GPU is given at a time, so that it does not wait between shards


class ImageFeaturesParameters(Parameters):
    """Section `kvqae.image_features`."""

    settings: dict[str, Any] = shared(f"{SECTION}.{{encoder}}", description="The entry in `kvqae.image_encoders`")
    batch_size: int = Field(ge=1, description="Images decoded and encoded together; halved when GPU memory runs out")
    max_side: int = shared("kvqae.pictures.max_side", ge=32, description="Pixels of a reduced image's longer side")
    max_pixels: int = shared("kvqae.pictures.max_pixels", ge=1, description="Images with more are counted as too large")


def encode_shards(
    shards: Sequence[Path],
    *,
    work: Path,
    encoder: str,
    settings: EncoderParameters,
    parameters: ImageFeaturesParameters,
) -> list[Path]:
    """Encode shards of images, each into a folder of `work`; a folder that is there is complete and is kept.

    While a GPU encodes, processes decode the next batches, also those of the next shard.
    """
    folders = [work / shard.stem for shard in shards]
    new = [(shard, folder) for shard, folder in zip(shards, folders, strict=True) if not folder.exists()]
    if not new:
        return folders
    loaded, size = load_encoder(encoder, settings), parameters.batch_size
    batches = [(shard, folder, start) for shard, folder in new for start in range(0, count_rows(shard), size)]
    # One shard is cached: a process decodes batches in their order.
    pictures = lru_cache(maxsize=1)(lambda shard: read_table(shard, ["name", "data"]).combine_chunks())

    def prepare(number: int) -> Prepared:
        shard, _, start = batches[number]
        rows = pictures(shard).slice(start, size).to_pydict()
        images = list(zip(rows["name"], rows["data"], strict=True))
        return prepare_images(images, loaded, max_side=parameters.max_side, max_pixels=parameters.max_pixels)

    inputs = feed(prepare, len(batches), feeders())
    parts: list[Features] = []
    for prepared, (_, folder, _), after in zip(inputs, batches, [*batches[1:], None], strict=True):
        parts.append(embed_prepared(prepared, loaded))
        if after is None or after[1] != folder:
            with write_folder(folder) as features:
                write_table(features / PICTURES, pa.concat_tables(part.table for part in parts))
                write_json(features / FLAWED, {flaw: sum(part.flaws[flaw] for part in parts) for flaw in FLAWS})
                np.save(features / VECTORS, np.concatenate([part.matrix for part in parts]))
            parts = []
    return folders


def concatenate(folders: Sequence[Path], out: Path) -> pa.Table:
    """Join the shards' features in order; returns the table of all images."""
    table = pa.concat_tables([read_table(folder / PICTURES) for folder in folders])
    write_table(out / PICTURES, table)
    join_matrices((folder / VECTORS for folder in folders), out / VECTORS)
    return table


def counts(table: pa.Table, flaws: Mapping[str, int], settings: EncoderParameters) -> dict[str, float]:
    """Count images, those without features by reason, those with a flaw, and those that show faces."""

    def count(condition: pa.ChunkedArray) -> int:
        return pc.sum(condition.cast(pa.int64()), min_count=0).as_py()

    unreadable = {f"unreadable_{reason}": count(pc.equal(table["unreadable"], reason)) for reason in REASONS}
    counted = {"images": table.num_rows, **unreadable, **flaws}
    if not isinstance(settings, FaceEncoderParameters):
        return counted
    searched = pc.is_valid(table["faces"])
    small = pc.less(pc.min_element_wise(table["width"], table["height"]), settings.min_side)
    return counted | {
        "too_small_for_faces": count(small),
        "face_detector_failed": count(pc.and_(pc.invert(searched), pc.invert(small))),
        "with_face": count(table["detected"]),
        "with_several_faces": count(pc.greater(table["faces"], 1)),
    }
