"""Stage `kvqae-bm25_index`. Build Lucene indexes of the knowledge base and of all articles."""

from pathlib import Path

from pydantic import Field

from trivium.core.arithmetic import is_portable
from trivium.core.parameters import Parameters, shared
from trivium.core.stage import stage
from trivium.kvqae.knowledge_base.passage_texts import knowledge_base_size
from trivium.kvqae.retrieval.bm25 import Analyzer, build_index, documents


class Bm25IndexParameters(Parameters):
    """Section `kvqae.bm25_index`."""

    analyzer: Analyzer = Field(description="standard: no stemming, as in the paper; english: stems, drops stop words")
    threads: int = shared("kvqae.lucene.threads", ge=1, description="Threads of indexing")
    heap_gib: int = shared("kvqae.lucene.heap_gib", ge=1, description="Memory of the Java machine, GiB")


@stage("kvqae.bm25_index", metrics="metrics/kvqae/bm25_index.json")
def main(
    parameters: Bm25IndexParameters,
    *,
    kb: Path = Path("data/kvqae/kb"),
    out_kb: Path = Path("data/kvqae/indexes/kb"),
    out_wikipedia: Path = Path("data/kvqae/indexes/wikipedia"),
) -> dict[str, float]:
    """Index titles and texts: ViQuAE searches the knowledge base, TriviaQA all articles."""
    metrics: dict[str, float] = {}
    for name, out, limit in (("kb", out_kb, knowledge_base_size(kb)), ("wikipedia", out_wikipedia, None)):
        metrics[f"{name}_passages"] = build_index(
            out,
            documents(kb, limit),
            analyzer=parameters.analyzer,
            threads=1 if is_portable() else parameters.threads,
            heap_gib=parameters.heap_gib,
        )
    return metrics
