"""Cut articles into passages at sentence boundaries (kvqae.md §1).

Tokens and sentences are those of a blank English spaCy pipeline with its `sentencizer`, as the authors'.
"""

import sys
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pydantic import Field

from trivium.core.atomic import write_atomically
from trivium.core.engine import Engine
from trivium.core.parameters import Parameters
from trivium.core.tables import read_batches, read_table
from trivium.kvqae.knowledge_base.passage_texts import ROW, ROWS, BroughtPassages

SCHEMA = pa.schema([("passage", pa.int64()), ("article", pa.int64()), ("position", pa.int32()), ("text", pa.string())])
BROUGHT_SCHEMA = SCHEMA.append(pa.field(ROW, pa.int64()))

Sentence = tuple[str, int]  # text, number of tokens


@contextmanager
def _without_torch() -> Iterator[None]:
    """Hide torch from spaCy, which would load it in every worker (3 s, 700 MB) without using it."""
    if "torch" in sys.modules:
        yield
        return
    sys.modules["torch"] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules["torch"]


def pack(sentences: Iterable[Sentence], words: int) -> Iterator[str]:
    """Fill passages greedily with whole sentences up to `words` tokens; a longer sentence stands alone."""
    passage: list[str] = []
    size = 0
    for text, tokens in sentences:
        if passage and size + tokens > words:
            yield " ".join(passage)
            passage, size = [], 0
        passage.append(text)
        size += tokens
    if passage:
        yield " ".join(passage)


@cache
def _pipeline() -> Any:
    with _without_torch():
        import spacy

    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.max_length = 2**31
    return nlp


def cut_articles(articles: pa.RecordBatch, words: int) -> pa.RecordBatch:
    """Cut articles (article, text) into passages (article, position, text); runs in a worker."""
    nlp = _pipeline()
    rows = []
    with nlp.memory_zone():  # frees the words, of millions of articles
        for article, paragraphs in zip(articles["article"].to_pylist(), articles["text"].to_pylist(), strict=True):
            documents = nlp.pipe(filter(None, paragraphs))
            sentences = ((sentence.text, len(sentence)) for document in documents for sentence in document.sents)
            passages = enumerate(pack(sentences, words))
            rows += [{"article": article, "position": position, "text": text} for position, text in passages]
    return pa.RecordBatch.from_pylist(rows, schema=SCHEMA.remove(0))


class PassagesParameters(Parameters):
    """Part of section `kvqae.knowledge_base`."""

    words: int = Field(ge=1, description="Most spaCy tokens in a passage; the title is not counted")
    shard_size: int = Field(default=4096, ge=1, description="Articles a worker takes at a time")
    brought: Path | None = Field(
        default=None, description="Folder of passages that take the place of ours, such as the authors'; null: cut here"
    )


def write_passages(
    parameters: PassagesParameters,
    engine: Engine,
    *,
    articles: Path,
    out: Path,
    work: Path | None = None,
) -> dict[str, float]:
    """Cut every article into passages, in the order of the articles: those of the knowledge base come first.

    With brought passages, an article with an image has those, and a column has the row of each.
    """
    images = read_table(articles, ["image"])["image"]
    kb_articles = len(images) - images.null_count
    batches = read_batches(articles, parameters.shard_size, ["article", "text"])
    brought = None if parameters.brought is None else BroughtPassages(parameters.brought, articles, work or out.parent)
    if brought is None:
        schema = SCHEMA
        cut = engine.map(partial(cut_articles, words=parameters.words), batches, description="passages")
    else:
        schema, cut = BROUGHT_SCHEMA, _join(brought, batches, engine, parameters.words)
    total = kb_passages = cut_here = 0
    # Without a stored Arrow schema, metadata that is written at the end (`kb_passages`) is read as the schema's.
    with (
        write_atomically(out) as file,
        pq.ParquetWriter(file, schema, compression="zstd", store_schema=False, write_page_checksum=True) as writer,
    ):
        for passages in cut:
            ids = pa.array(range(total, total + len(passages)), pa.int64())
            writer.write_batch(pa.record_batch([ids, *passages.columns], schema=schema))
            total += len(passages)
            in_base = pc.less(passages["article"], kb_articles)
            kb_passages += pc.sum(in_base, min_count=0).as_py()
            if brought is not None:
                cut_here += pc.sum(pc.and_(in_base, pc.is_null(passages[ROW])), min_count=0).as_py()
        theirs = {} if brought is None else {ROWS.decode(): str(brought.rows)}
        writer.add_key_value_metadata({"kb_passages": str(kb_passages), **theirs})
    counts = {"passages": total, "kb_passages": kb_passages, "passages_per_article": total / max(len(images), 1)}
    if brought is None:
        return counts
    return counts | {
        "brought": brought.rows,
        "brought_without_article": brought.without_article,
        "kb_passages_cut_here": cut_here,
    }


def _join(
    brought: BroughtPassages, batches: Iterable[pa.RecordBatch], engine: Engine, words: int
) -> Iterator[pa.RecordBatch]:
    """Join brought passages and those cut here, in the order of articles: (article, position, text, row)."""
    ranges: deque[list[int]] = deque()

    def lacking() -> Iterator[pa.RecordBatch]:
        for batch in batches:
            ranges.append(batch["article"].to_pylist())
            yield batch.filter(pa.array([article not in brought for article in ranges[-1]]))

    for cut in engine.map(partial(cut_articles, words=words), lacking(), description="passages"):
        rows = [
            {"article": article, "position": position, "text": text, ROW: first + position}
            for article in filter(brought.__contains__, ranges.popleft())
            for first, texts in [brought.of(article)]
            for position, text in enumerate(texts)
        ]
        theirs = pa.Table.from_pylist(rows, schema=BROUGHT_SCHEMA.remove(0))
        table = pa.concat_tables([theirs, pa.Table.from_batches([cut])], promote_options="default")
        yield from table.sort_by([("article", "ascending"), ("position", "ascending")]).combine_chunks().to_batches()
