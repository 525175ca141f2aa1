"""Articles of the knowledge base with an image, features of these images, and the three parts (kvqae.md §1)."""

from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from trivium.core.matrices import read_matrix
from trivium.core.tables import read_table
from trivium.kvqae.knowledge_base.passage_texts import ARTICLES, PASSAGES

PICTURES, VECTORS = "pictures.parquet", "vectors.npy"  # in an encoder's folder of features, a row for each image
FACES_BY = "arcface"  # the encoder whose folder says which pictures show a face


@dataclass(frozen=True)
class ImageFeatures:
    """Features of a folder of images; arrays have one entry for each image.

    Attributes:
        folder: folder with a subfolder for each encoder.
        names: names of the images.
        detected: whether an image shows a face.
        readable: whether an image could be decoded.
    """

    folder: Path
    names: pa.ChunkedArray
    detected: NDArray[np.bool_]
    readable: NDArray[np.bool_]

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Open a folder of features: ArcFace's say which pictures can be read and which show a face."""
        table = read_table(folder / FACES_BY / PICTURES, ["name", "detected", "unreadable"])
        readable = pc.is_null(table["unreadable"]).to_numpy()
        return cls(folder, table["name"], table["detected"].to_numpy(), readable)

    def rows(self, names: pa.Array | pa.ChunkedArray) -> NDArray[np.int64]:
        """Return the row of each image, -1 where there is no such image."""
        return pc.fill_null(pc.index_in(names, value_set=self.names), -1).to_numpy().astype(np.int64)

    def matrix(self, encoder: str) -> NDArray[np.float16]:
        """Memory-map the embeddings of one encoder, (images, dimension)."""
        return read_matrix(self.folder / encoder / VECTORS)


@dataclass(frozen=True)
class IllustratedBase:
    """The articles with an image, and features of these images.

    Attributes:
        articles: numbers of the articles, ascending.
        images: row of each article's image in `features`, -1 where it is missing.
        human: whether the article is about a person.
        starts: (number of articles + 1,) first passage of each article of any kind.
        features: features of the images; several articles may share an image.
    """

    articles: NDArray[np.int64]
    images: NDArray[np.int64]
    human: NDArray[np.bool_]
    starts: NDArray[np.int64]
    features: ImageFeatures

    def parts(self) -> dict[str, NDArray[np.bool_]]:
        """Return the three disjoint parts as masks over `articles`."""
        face = np.isin(self.images, np.flatnonzero(self.features.detected))
        return {
            "humans_with_face": self.human & face,
            "humans_without_face": self.human & ~face,
            "non_humans": ~self.human,
        }

    def readable(self) -> NDArray[np.bool_]:
        """Return a mask over `articles`: whether the image exists and could be decoded."""
        return np.isin(self.images, np.flatnonzero(self.features.readable))


def read_illustrated_base(kb: Path, features: Path) -> IllustratedBase:
    """Read the articles with an image and the features of these images."""
    table = read_table(kb / ARTICLES, ["article", "image", "human"])
    illustrated = table.filter(pc.is_valid(table["image"]))
    owner = read_table(kb / PASSAGES, ["article"])["article"].to_numpy()
    images = ImageFeatures.read(features)
    return IllustratedBase(
        articles=illustrated["article"].to_numpy(),
        images=images.rows(illustrated["image"]),
        human=illustrated["human"].to_numpy(),
        starts=np.searchsorted(owner, np.arange(table.num_rows + 1)),
        features=images,
    )
