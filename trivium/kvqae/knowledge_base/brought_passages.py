"""Passages of the authors, or of anybody else, in the place of those that are cut here (kvqae.md §1, §8).

The format is that of the authors' `viquae_passages` and `viquae_v4-alpha_passages`: Parquet files with the columns
`passage` (`title [SEP] text`) and `index` (their number of the article), as their `meerqat/data/loading.py` makes them
(https://github.com/PaulLerner/ViQuAE). Runs and judgements name passages by their row, from 0, over all files. Their
articles stand in another order than ours: the title joins them.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from trivium.core.errors import BadInput
from trivium.core.tables import count_rows, read_batches, read_schema, read_table
from trivium.kvqae.knowledge_base.passage_texts import SEPARATOR

ROW, ROWS = "brought_row", b"brought_rows"  # column and metadata of our passages: of theirs, and how many they have
LOST = 0.1  # share of their passages that may be of no article here
_COLUMNS = ("passage", "index")
_BATCH = 1 << 16
Rows = NDArray[np.int64]


class BroughtPassages:
    """The passages of a folder of Parquet files, by our articles; `work` keeps texts in a memory-mapped file.

    Attributes:
        rows: how many there are.
        without_article: how many are of an article that is not among ours with an image, and are left out.

    Raises:
        BadInput: no file, a column is missing, a passage without title, an article's passages that stand apart, or more
            than `LOST` of them are of no article here.
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
            raise BadInput("too many passages are of no article with an image here", file=folder,
                           got=f"{self.without_article} of {self.rows}", expected=f"at most {LOST:.0%}")  # fmt: skip
        numbers, first, counts = np.unique(article_of, return_index=True, return_counts=True)
        last = self.rows - 1 - np.unique(article_of[::-1], return_index=True)[1]
        apart = (last - first + 1 != counts) & (numbers >= 0)
        if apart.any():
            got = titles[int(numbers[apart][0])].as_py()
            raise BadInput("an article's passages stand apart", file=folder, field="passage", got=got)
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


def numbers_of_rows(passages: Path) -> Rows:
    """List our passage of each row of brought passages, -1 where one was left out; of each of ours without such."""
    schema = read_schema(passages)
    if ROW not in schema.names:
        return np.arange(count_rows(passages))
    rows = read_table(passages, [ROW])[ROW].combine_chunks()
    numbers = np.full(int(schema.metadata[ROWS]), -1, np.int64)
    numbers[rows.drop_null().to_numpy()] = np.flatnonzero(pc.is_valid(rows).to_numpy(zero_copy_only=False))
    return numbers
