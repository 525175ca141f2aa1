"""BM25's two Lucene indexes: passages of the knowledge base, and of all articles (kvqae.md §3)."""

from collections.abc import Iterator
from pathlib import Path

from tqdm import tqdm

from trivium.kvqae.knowledge_base.passage_texts import stream_passages


def documents(passages: Path, articles: Path, limit: int | None) -> Iterator[tuple[int, str]]:
    """Stream (passage, title and text) of the first `limit` passages."""
    batches = stream_passages(passages, articles, batch_size=4096, limit=limit)
    for first, titles, texts in tqdm(batches, desc="index", unit="batch", mininterval=5, leave=False):
        for passage, (title, text) in enumerate(zip(titles.to_pylist(), texts.to_pylist(), strict=True), first):
            yield passage, f"{title} {text}"
