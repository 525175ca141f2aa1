"""Titles and texts of passages, streamed in order or looked up by number; passages that users bring (kvqae.md §1, §8).

Passages that a user brings replace those that are cut here. They have the format of the authors' `viquae_passages` and
`viquae_v4-alpha_passages`: Parquet files with the columns `passage` (`title [SEP] text`) and `index` (the authors'
number of the article), as `meerqat/data/loading.py` makes them (https://github.com/PaulLerner/ViQuAE). Runs and
judgements name these passages by row, from 0, over all files. Titles join them to our articles, whose order differs.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from trivium.core.errors import BadInput
from trivium.core.tables import count_rows, read_batches, read_schema, read_table
from trivium.measures.runs import PADDING

ARTICLES, PASSAGES = "articles.parquet", "passages.parquet"  # the tables in the folder of a knowledge base
SEPARATOR = " [SEP] "  # every model reads `title [SEP] text`; BERT's tokenizer makes it one token


def knowledge_base_size(kb: Path) -> int:
    """Return the number of passages of the knowledge base, which are the first ones of the file."""
    return int(read_schema(kb / PASSAGES).metadata[b"kb_passages"])


def stream_passages(kb: Path, *, batch_size: int, limit: int | None = None) -> Iterator[tuple[int, pa.Array, pa.Array]]:
    """Stream batches (number of the first passage, titles, texts) in order, up to `limit` passages."""
    titles = read_table(kb / ARTICLES, ["title"])["title"].combine_chunks()
    first = 0
    for batch in read_batches(kb / PASSAGES, batch_size, ["article", "text"]):
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


def read_passage_texts(kb: Path, *numbers: NDArray[np.int64]) -> PassageTexts:
    """Read the passages whose numbers, or padding, these arrays have, in one pass; memory grows with their number.

    Raises:
        BadInput: one of the numbers is not a passage.
    """
    ids = np.unique(np.concatenate([np.empty(0, np.int64), *(array.ravel() for array in numbers)]))
    ids = ids[ids != PADDING]
    rows = count_rows(kb / PASSAGES)
    outside = ids[(ids < 0) | (ids >= rows)]
    if len(outside):
        raise BadInput("no such passage", file=kb / PASSAGES, got=int(outside[0]), expected=f"0 to {rows - 1}")
    titles, texts = [pa.array([], pa.large_string())], [pa.array([], pa.large_string())]
    for first, title, text in stream_passages(kb, batch_size=1 << 16):
        low, high = np.searchsorted(ids, [first, first + len(text)])
        chosen = pa.array(ids[low:high] - first)
        titles.append(title.take(chosen).cast(pa.large_string()))
        texts.append(text.take(chosen).cast(pa.large_string()))
    return PassageTexts(ids, pa.concat_arrays(titles), pa.concat_arrays(texts))


Ids = NDArray[np.int64]


class ArticlePassages:
    """The passages of each article: one int64 a passage in memory; the file has the articles in order."""

    def __init__(self, kb: Path) -> None:
        self.article_of: Ids = read_table(kb / PASSAGES, ["article"])["article"].to_numpy()

    def __call__(self, article: int) -> Ids:
        """Return the passage numbers of an article."""
        start, end = np.searchsorted(self.article_of, [article, article + 1])
        return np.arange(start, end)


def passages_of_articles(kb: Path, entities: set[str | None]) -> dict[str, NDArray[np.int64]]:
    """List the passages of the article of each of these Wikidata entities; no entry for one without an article."""
    ids = read_table(kb / ARTICLES, ["wikidata_id"])["wikidata_id"]
    rows = pc.indices_nonzero(pc.is_in(ids, value_set=pa.array(entities, pa.string()), skip_nulls=True))
    passages_of = ArticlePassages(kb)
    return {name: passages_of(row) for name, row in zip(ids.take(rows).to_pylist(), rows.to_pylist(), strict=True)}


ROW, ROWS = "brought_row", b"brought_rows"  # our column with the row of a brought passage; metadata: number of rows
LOST = 0.1  # share of brought passages that may have no article here
_COLUMNS = ("passage", "index")
_BATCH = 1 << 16


class BroughtPassages:
    """Brought passages, a folder of Parquet files, by our articles; their texts are memory-mapped from `work`.

    Attributes:
        rows: number of passages.
        without_article: number of passages left out, as their article is not among ours with an image.

    Raises:
        BadInput: no file, a column is missing, a passage without title, an article's passages are not consecutive, or a
            share above `LOST` has no article here.
    """

    def __init__(self, folder: Path, articles: Path, work: Path) -> None:
        table = read_table(articles, ["title", "image"])
        titles = table["title"].filter(pc.is_valid(table["image"])).combine_chunks()
        work.mkdir(parents=True, exist_ok=True)
        file = work / "brought_passages.arrow"
        owners = [np.empty(0, np.int64)]
        schema = pa.schema([("text", pa.string())])
        with pa.OSFile(str(file), "wb") as sink, pa.ipc.new_file(sink, schema) as writer:
            for passages in _read(folder):
                parts = pc.extract_regex(passages, r"(?s)^(?P<title>.*?) \[SEP\] (?P<text>.*)$")
                if parts.null_count:
                    row = sum(map(len, owners)) + pc.index(pc.is_null(parts), True).as_py()
                    got = passages[row - sum(map(len, owners))].as_py()
                    raise BadInput("a passage without a title", file=folder, row=row, field="passage", got=got,
                                   expected=f"title{SEPARATOR}text")  # fmt: skip
                title, text = parts.field("title"), parts.field("text")
                owners.append(pc.fill_null(pc.index_in(title, value_set=titles), -1).to_numpy().astype(np.int64))
                writer.write_batch(pa.record_batch([text.cast(pa.string())], schema=schema))
        article_of = np.concatenate(owners)
        self.rows, self.without_article = len(article_of), int((article_of < 0).sum())
        if self.without_article > LOST * self.rows:
            raise BadInput("too many passages have no article with an image here", file=folder,
                           got=f"{self.without_article} of {self.rows}", expected=f"at most {LOST:.0%}")  # fmt: skip
        numbers, first, counts = np.unique(article_of, return_index=True, return_counts=True)
        last = self.rows - 1 - np.unique(article_of[::-1], return_index=True)[1]
        apart = (last - first + 1 != counts) & (numbers >= 0)
        if apart.any():
            got = titles[int(numbers[apart][0])].as_py()
            raise BadInput("an article's passages are not consecutive", file=folder, field="passage", got=got)
        self._spans = {
            int(number): (int(start), int(count)) for number, start, count in zip(numbers, first, counts, strict=True)
        }
        self._texts = pa.ipc.open_file(pa.memory_map(str(file))).read_all()["text"]

    def __contains__(self, article: int) -> bool:
        return article in self._spans

    def of(self, article: int) -> tuple[int, list[str]]:
        """Return (row of the first, texts) of an article's passages."""
        start, count = self._spans[article]
        return start, self._texts.slice(start, count).to_pylist()


def _read(folder: Path) -> Iterator[pa.Array]:
    files = sorted(folder.glob("*.parquet"))
    if not files:
        raise BadInput("no passages", file=folder, expected="Parquet files, such as train-00000-of-00011.parquet")
    for file in files:
        if missing := [name for name in _COLUMNS if name not in read_schema(file).names]:
            raise BadInput("a column is missing", file=file, got=missing[0], choices=read_schema(file).names)
        for batch in read_batches(file, _BATCH, ["passage"]):
            yield batch["passage"]


def numbers_of_rows(kb: Path) -> Ids:
    """List our passage of each brought row, -1 where it was left out; without brought passages, all of ours."""
    schema = read_schema(kb / PASSAGES)
    if ROW not in schema.names:
        return np.arange(count_rows(kb / PASSAGES))
    rows = read_table(kb / PASSAGES, [ROW])[ROW].combine_chunks()
    numbers = np.full(int(schema.metadata[ROWS]), -1, np.int64)
    numbers[rows.drop_null().to_numpy()] = np.flatnonzero(pc.is_valid(rows).to_numpy(zero_copy_only=False))
    return numbers
