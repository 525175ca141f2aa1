"""BM25's two Lucene indexes: passages of the knowledge base, and of all articles (kvqae.md §3)."""

from collections.abc import Iterator
from pathlib import Path

from pydantic import Field
from tqdm import tqdm

from stages.kvqae.lucene import Analyzer, build_index
from stages.kvqae.passage_texts import knowledge_base_size, stream_passages
from stages.stage import Context, Parameters, run_stage


class Bm25IndexParameters(Parameters):
    """Section `kvqae.bm25_index`."""

    analyzer: Analyzer = Field(description="standard: no stemming, as in the paper; english: stems, drops stop words")
    threads: int = Field(ge=1, description="Threads of indexing")
    heap_gib: int = Field(ge=1, description="Memory of the Java machine, GiB")


def documents(passages: Path, articles: Path, limit: int | None) -> Iterator[tuple[int, str]]:
    """Stream (passage, title and text) of the first `limit` passages."""
    batches = stream_passages(passages, articles, batch_size=4096, limit=limit)
    for first, titles, texts in tqdm(batches, desc="index", unit="batch", mininterval=5, leave=False):
        for passage, (title, text) in enumerate(zip(titles.to_pylist(), texts.to_pylist(), strict=True), first):
            yield passage, f"{title} {text}"


def main(
    parameters: Bm25IndexParameters,
    context: Context,
    *,
    passages: Path,
    articles: Path,
    out_kb: Path,
    out_wikipedia: Path,
) -> dict[str, float]:
    """Index titles and texts: ViQuAE searches the knowledge base, TriviaQA all articles."""
    sizes = {}
    for name, out, limit in (("kb", out_kb, knowledge_base_size(passages)), ("wikipedia", out_wikipedia, None)):
        sizes[f"{name}_passages"] = build_index(
            out,
            documents(passages, articles, limit),
            analyzer=parameters.analyzer,
            threads=parameters.threads,
            heap_gib=parameters.heap_gib,
        )
    return dict(sizes)


if __name__ == "__main__":
    run_stage(main, "kvqae.bm25_index", Bm25IndexParameters)
