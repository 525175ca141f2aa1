"""Cross-modal search: the entities whose names a CLIP finds nearest to the question's picture (kvqae.md §3).

Lerner, Ferret and Guinaudeau, ECIR 2024. An article scores the cosine of its title, read by the text tower, and the
picture, seen by the image tower; its passages get that score as they get one by images. All questions with a readable
picture search all illustrated articles: there is no routing by faces.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray
from pydantic import Field, model_validator

from trivium.core.errors import BadInput
from trivium.core.matrices import check_finite, read_matrix
from trivium.core.parameters import Parameters
from trivium.core.tables import read_table
from trivium.kvqae.retrieval.image_search import passages_of
from trivium.kvqae.retrieval.name_systems import SECTION
from trivium.vision.neighbours import exact_search

VECTORS, ARTICLES = "names.npy", "articles.npy"  # in the folder of vectors


class NameSearchParameters(Parameters):
    """Section `kvqae.name_search`."""

    elsewhere: ClassVar = {
        "depth": "kvqae.depth",
        "settings": f"{SECTION}.{{encoder}}",
        "pictures": "kvqae.image_encoders.{encoder}",
    }
    depth: int = Field(ge=1, description="Articles, and passages, kept a question")
    settings: dict[str, Path] = Field(description="`model`: the folder with both towers")
    pictures: dict[str, Any] = Field(description="Of the encoder of pictures: its entry in `kvqae.image_encoders`")
    batch_size: int = Field(ge=1, description="Names a batch; halves itself when GPU memory runs out")

    @model_validator(mode="after")
    def _one_model(self) -> Self:
        seen = self.pictures.get("model")
        if set(self.settings) != {"model"} or str(self.settings["model"]) != str(seen):
            raise ValueError(f"names and pictures need the two towers of one model: expected {{model: {seen}}}")
        return self

    @property
    def model(self) -> Path:
        """The folder with both towers."""
        return self.settings["model"]


@dataclass(frozen=True)
class NameIndex:
    """What is searched by one encoder, opened once for any number of queries.

    Attributes:
        matrix: (names, dimension) embeddings, memory-mapped.
        articles: of each name, ascending.
        starts: (articles + 1,) first passage of each article of any kind.
    """

    matrix: NDArray[np.float16]
    articles: NDArray[np.int64]
    starts: NDArray[np.int64]

    @classmethod
    def read(cls, folder: Path, starts: NDArray[np.int64]) -> Self:
        """Open a folder of vectors.

        Raises:
            BadInput: matrix and articles do not fit each other, or NaN.
        """
        matrix, articles = read_matrix(folder / VECTORS), read_matrix(folder / ARTICLES)
        if matrix.ndim != 2 or len(matrix) != len(articles):
            raise BadInput("wrong shape", file=folder / VECTORS, got=matrix.shape, expected=f"({len(articles)}, width)")
        check_finite(matrix, folder / VECTORS)
        return cls(matrix, articles, starts)

    def search(
        self, queries: NDArray[np.floating], depth: int
    ) -> tuple[list[dict[int, float]], list[dict[int, float]]]:
        """For each query picture (n, dimension) the articles' cosines and the passages' scores, best article first."""
        cosines, names = exact_search(queries, self.matrix, depth, cosine=True)
        ranked = [
            dict(zip(self.articles[row[row >= 0]].tolist(), scores[row >= 0].tolist(), strict=True))
            for row, scores in zip(names, cosines, strict=True)
        ]
        return ranked, [passages_of(articles, self.starts, depth) for articles in ranked]


def illustrated_names(articles: Path) -> tuple[NDArray[np.int64], Sequence[str]]:
    """Numbers and titles of the articles with an image."""
    table = read_table(articles, ["article", "title", "image"])
    shown = table.filter(pc.is_valid(table["image"]))
    return shown["article"].to_numpy().astype(np.int64), shown["title"].to_pylist()
