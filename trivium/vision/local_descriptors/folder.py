"""Features of images on disk, as DELG's: one global descriptor and up to m local ones for each image.

Stage `kvqae-local_features` writes such folders and Re-Ranking Transformers read them (kvqae.md §4); the format is in
docs/kvqae-formats.md, "Local features".
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from trivium.core.atomic import write_folder
from trivium.core.errors import BadInput
from trivium.core.matrices import join_matrices, read_matrix
from trivium.core.tables import read_table, write_table

LOCAL_DIMENSION = 128
SCALES = 7  # half octaves
MATRICES = ("global", "locals", "scales")
SCHEMA = pa.schema(
    [
        ("name", pa.string()),
        ("locals", pa.int32()),  # how many local descriptors; null when unreadable
        ("unreadable", pa.string()),  # the reason, or null
    ]
)


@dataclass(frozen=True)
class Description:
    """Features of one image.

    Attributes:
        overall: (g,) the global descriptor, of length 1.
        local: (n, 128) local descriptors of length 1, the most salient first.
        scales: (n,) the scale of each, 0 (small details) to 6, in half octaves.
        flaws: those of `decoding.FLAWS` that the image has.
    """

    overall: NDArray[np.floating]
    local: NDArray[np.floating]
    scales: NDArray[np.integer]
    flaws: tuple[str, ...] = ()


@dataclass(frozen=True)
class FeatureFolder:
    """Memory-mapped features of images; arrays have one row for each image, zero where there is nothing.

    Attributes:
        names: names of the images.
        counts: (n,) number of local descriptors of each image, -1 where it was unreadable.
        overall: (n, g) float16 global descriptors.
        local: (n, m, 128) float16 local descriptors.
        scales: (n, m) int8 scales, in half octaves.
    """

    names: pa.ChunkedArray
    counts: NDArray[np.int32]
    overall: NDArray[np.float16]
    local: NDArray[np.float16]
    scales: NDArray[np.int8]

    @classmethod
    def of(cls, names: Sequence[str], descriptions: Sequence[Description | None], *, most: int, dimension: int) -> Self:
        """Put descriptions of the named images, None where there is none, into arrays; see `FeatureFolder`.

        `most` is m, `dimension` is g. `BadInput` names an image with NaN or infinity.
        """
        counts = np.full(len(names), -1, np.int32)
        overall = np.zeros((len(names), dimension), np.float16)
        local = np.zeros((len(names), most, LOCAL_DIMENSION), np.float16)
        scales = np.zeros((len(names), most), np.int8)
        for row, (name, description) in enumerate(zip(names, descriptions, strict=True)):
            if description is None:
                continue
            count = counts[row] = min(most, len(description.local))
            overall[row] = description.overall
            local[row, :count], scales[row, :count] = description.local[:count], description.scales[:count]
            if not (np.isfinite(overall[row]).all() and np.isfinite(local[row]).all()):
                raise BadInput("NaN or infinite descriptor", field="image", got=name)
        return cls(pa.chunked_array([pa.array(names, pa.string())]), counts, overall, local, scales)

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Open a folder of features."""
        table = read_table(folder / "names.parquet", SCHEMA.names)
        counts = pc.fill_null(table["locals"], -1).to_numpy().astype(np.int32)
        overall, local, scales = (read_matrix(folder / f"{name}.npy") for name in MATRICES)
        return cls(table["name"], counts, overall, local, scales)

    def rows(self, names: pa.Array | pa.ChunkedArray) -> NDArray[np.int64]:
        """Return the row of each image, -1 where there is no such image or it was unreadable."""
        rows = pc.fill_null(pc.index_in(names, value_set=self.names, skip_nulls=True), -1).to_numpy().astype(np.int64)
        return np.where(self.counts[rows] >= 0, rows, -1) if len(self.counts) else np.full_like(rows, -1)


def write_features(folder: Path, features: FeatureFolder, unreadable: Sequence[str | None]) -> None:
    """Write features, and the reason for each unreadable image; the folder is complete or absent."""
    rows = [
        {"name": name, "locals": count if count >= 0 else None, "unreadable": reason}
        for name, count, reason in zip(features.names.to_pylist(), features.counts.tolist(), unreadable, strict=True)
    ]
    with write_folder(folder) as target:
        write_table(target / "names.parquet", pa.Table.from_pylist(rows, schema=SCHEMA))
        np.save(target / "global.npy", features.overall)
        np.save(target / "locals.npy", features.local)
        np.save(target / "scales.npy", features.scales)


def join_features(folders: Sequence[Path], out: Path) -> pa.Table:
    """Join folders of features in order, by streaming; returns the table. `BadInput`: an image is in two folders."""
    table = pa.concat_tables(read_table(folder / "names.parquet") for folder in folders)
    twice = pc.filter(table["name"].value_counts(), pc.greater(table["name"].value_counts().field("counts"), 1))
    if len(twice):
        raise BadInput("image name twice", file=out, field="name", got=twice[0]["values"].as_py())
    with write_folder(out) as target:
        write_table(target / "names.parquet", table)
        for name in MATRICES:
            join_matrices((folder / f"{name}.npy" for folder in folders), target / f"{name}.npy")
    return table


def count_images(table: pa.Table, reasons: Iterable[str]) -> dict[str, float]:
    """Count images, unreadable ones by reason, and those without local descriptors; average local descriptors."""

    def count(condition: pa.ChunkedArray) -> int:
        return pc.sum(condition.cast(pa.int64()), min_count=0).as_py()

    return {
        "images": table.num_rows,
        **{f"unreadable_{reason}": count(pc.equal(table["unreadable"], reason)) for reason in reasons},
        "without_locals": count(pc.equal(table["locals"], 0)),
        "locals_mean": pc.mean(table["locals"]).as_py() or 0.0,
    }
