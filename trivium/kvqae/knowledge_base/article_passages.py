"""Which passages an article has, by the article's row or by its Wikipedia id."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from trivium.core.errors import BadInput
from trivium.core.tables import read_table

Ids = NDArray[np.int64]


class ArticlePassages:
    """Which passages an article has: one int64 a passage in memory.

    Args:
        passages: Parquet file; the passages of an article stand together, articles in order.
    """

    def __init__(self, passages: Path) -> None:
        self.article_of: Ids = read_table(passages, ["article"])["article"].to_numpy()
        if (np.diff(self.article_of) < 0).any():
            raise BadInput("passages are not in the order of their articles", file=passages, field="article")

    def __call__(self, article: int) -> Ids:
        """Passage numbers of an article."""
        start, end = np.searchsorted(self.article_of, [article, article + 1])
        return np.arange(start, end)


def passages_of_articles(passages: Path, articles: Path, wikipedia_ids: set[str]) -> dict[str, NDArray[np.int64]]:
    """The passages of each of these Wikipedia articles, in the article's order; no entry for an unknown article."""
    known = read_table(articles, ["wikipedia_id"])["wikipedia_id"]
    rows = pc.indices_nonzero(pc.is_in(known, value_set=pa.array(wikipedia_ids, pa.string())))
    passages_of = ArticlePassages(passages)
    return {name: passages_of(row) for name, row in zip(known.take(rows).to_pylist(), rows.to_pylist(), strict=True)}
