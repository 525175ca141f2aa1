"""Image features: every image decoded once, then its face, its ImageNet and its CLIP embedding (kvqae.md §3)."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field

from trivium.files.atomic import write_atomically
from trivium.files.matrices import read_matrix, write_matrix
from trivium.files.tables import read_table, write_json, write_table
from trivium.vision.decoding import REASONS
from trivium.vision.image_encoding import MATRICES, FaceDetectorParameters, encode_images, load_encoders

BROKEN_EXIF = "broken_exif.json"  # in the folder of a shard: how many images


class ImageFeaturesParameters(FaceDetectorParameters):
    """Section `kvqae.image_features`."""

    clip: Path = Field(
        description="CLIP's folder in open_clip's format, which dvc.yaml hands over: one of the models "
        "of models/decorrelation/cells may stand here"
    )
    batch_size: int = Field(ge=1, description="Images decoded and encoded together; halved when GPU memory runs out")
    max_side: int = Field(ge=32, description="Longer side, in pixels, to which larger images are reduced")
    max_pixels: int = Field(ge=1, description="Images with more pixels are counted as too large (JPEGs: after scaling)")


def encode_shard(
    shard: Path, *, work: Path, arcface: Path, imagenet: Path, clip: Path, parameters: ImageFeaturesParameters
) -> Path:
    """Encode one shard of images into a folder of `work`; a folder that is there is complete and is kept."""
    folder = work / shard.stem
    if folder.exists():
        return folder
    encoders = load_encoders(arcface, imagenet, clip, parameters)
    table = read_table(shard, ["name", "data"]).combine_chunks()  # row groups are smaller than batches
    parts = []
    for batch in table.to_batches(max_chunksize=parameters.batch_size):
        images = list(zip(batch["name"].to_pylist(), batch["data"].to_pylist(), strict=True))
        parts.append(encode_images(images, encoders, max_side=parameters.max_side, max_pixels=parameters.max_pixels))
    with write_atomically(folder) as beside:
        beside.mkdir()
        write_table(beside / "faces.parquet", pa.concat_tables(part.table for part in parts))
        write_json(beside / BROKEN_EXIF, sum(part.broken_exif for part in parts))
        for name in MATRICES:
            np.save(beside / f"{name}.npy", np.concatenate([part.matrices[name] for part in parts]))
    return folder


def concatenate(folders: Sequence[Path], out: Path) -> pa.Table:
    """Join the shards' features in order; returns the table of all images."""
    tables = [read_table(folder / "faces.parquet") for folder in folders]
    table = pa.concat_tables(tables)
    write_table(out / "faces.parquet", table)
    for name in MATRICES:
        columns = read_matrix(folders[0] / f"{name}.npy").shape[1]
        with write_matrix(out / f"{name}.npy", table.num_rows, columns) as matrix:
            start = 0
            for folder in folders:
                part = read_matrix(folder / f"{name}.npy")
                matrix[start : start + len(part)] = part
                start += len(part)
    return table


def counts(table: pa.Table, broken_exif: int, min_side: int) -> dict[str, float]:
    """How many images there are, how many gave no features and why or are perhaps not upright, how many show faces."""

    def count(condition: pa.ChunkedArray) -> int:
        return pc.sum(condition.cast(pa.int64()), min_count=0).as_py()

    unreadable = {f"unreadable_{reason}": count(pc.equal(table["unreadable"], reason)) for reason in REASONS}
    searched = pc.is_valid(table["faces"])
    small = pc.less(pc.min_element_wise(table["width"], table["height"]), min_side)
    return {
        "images": table.num_rows,
        **unreadable,
        "broken_exif": broken_exif,
        "too_small_for_faces": count(small),
        "face_detector_failed": count(pc.and_(pc.invert(searched), pc.invert(small))),
        "with_face": count(table["detected"]),
        "with_several_faces": count(pc.greater(table["faces"], 1)),
    }
