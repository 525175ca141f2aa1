"""Titles and texts of passages, streamed in order or looked up by passage number."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from trivium.core.errors import BadInput
from trivium.core.tables import count_rows, read_batches, read_schema, read_table

SEPARATOR = " [SEP] "  # every model reads `title [SEP] text`; BERT's tokenizer makes it one token


def knowledge_base_size(passages: Path) -> int:
    """Count the passages, the first ones of the file, that belong to the knowledge base."""
    return int(read_schema(passages).metadata[b"kb_passages"])


def stream_passages(
    passages: Path, articles: Path, *, batch_size: int, limit: int | None = None
) -> Iterator[tuple[int, pa.Array, pa.Array]]:
    """Stream batches (number of the first passage, titles, texts) in order, up to `limit` passages."""
    titles = read_table(articles, ["title"])["title"].combine_chunks()
    first = 0
    for batch in read_batches(passages, batch_size, ["article", "text"]):
        if limit is not None:
            batch = batch.slice(0, limit - first)
        if not len(batch):
            return
        yield first, titles.take(batch["article"]), batch["text"]
        first += len(batch)


@dataclass(frozen=True)
class PassageTexts:
    """Titles and texts of some passages, in Arrow's compact form; their numbers, `ids`, increase."""

    ids: NDArray[np.int64]
    titles: pa.Array
    texts: pa.Array

    def __getitem__(self, passage: int) -> tuple[str, str]:
        """Return (title, text) of a passage; KeyError when it was not read."""
        row = int(np.searchsorted(self.ids, passage))
        if row == len(self.ids) or self.ids[row] != passage:
            raise KeyError(passage)
        return self.titles[row].as_py(), self.texts[row].as_py()

    def only(self, passages: Iterable[int]) -> "PassageTexts":
        """Select these passages, all of which were read."""
        ids = np.unique(np.fromiter(passages, np.int64))
        rows = pa.array(np.searchsorted(self.ids, ids))
        return PassageTexts(ids, self.titles.take(rows), self.texts.take(rows))


def read_passage_texts(passages: Path, articles: Path, ids: NDArray[np.int64]) -> PassageTexts:
    """Pick out passages by their numbers in one pass over the file; memory grows with what is picked out.

    Raises:
        BadInput: one of the numbers is not a passage.
    """
    ids = np.unique(ids)
    rows = count_rows(passages)
    outside = ids[(ids < 0) | (ids >= rows)]
    if len(outside):
        raise BadInput("no such passage", file=passages, got=int(outside[0]), expected=f"0 to {rows - 1}")
    titles, texts = [pa.array([], pa.large_string())], [pa.array([], pa.large_string())]
    for first, title, text in stream_passages(passages, articles, batch_size=1 << 16):
        low, high = np.searchsorted(ids, [first, first + len(text)])
        chosen = pa.array(ids[low:high] - first)
        titles.append(title.take(chosen).cast(pa.large_string()))
        texts.append(text.take(chosen).cast(pa.large_string()))
    return PassageTexts(ids, pa.concat_arrays(titles), pa.concat_arrays(texts))


Ids = NDArray[np.int64]


class ArticlePassages:
    """The passages of each article: one int64 a passage in memory, from a Parquet file with articles in order."""

    def __init__(self, passages: Path) -> None:
        self.article_of: Ids = read_table(passages, ["article"])["article"].to_numpy()

    def __call__(self, article: int) -> Ids:
        """Return the passage numbers of an article."""
        start, end = np.searchsorted(self.article_of, [article, article + 1])
        return np.arange(start, end)


def passages_of_articles(passages: Path, articles: Path, entities: set[str]) -> dict[str, NDArray[np.int64]]:
    """List the passages of the article of each of these Wikidata entities; no entry for one without an article."""
    ids = read_table(articles, ["wikidata_id"])["wikidata_id"]
    rows = pc.indices_nonzero(pc.is_in(ids, value_set=pa.array(entities, pa.string())))
    passages_of = ArticlePassages(passages)
    return {name: passages_of(row) for name, row in zip(ids.take(rows).to_pylist(), rows.to_pylist(), strict=True)}
