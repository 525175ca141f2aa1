"""BM25: Lucene's indexes, k1 and b by grid search on ViQuAE's validation MRR, then every question (kvqae.md §3)."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import product
from math import ceil
from pathlib import Path
from typing import ClassVar

import numpy as np
from pydantic import Field
from tqdm import tqdm

from trivium.core.atomic import write_atomically
from trivium.core.engine import Engine
from trivium.core.parameters import Parameters
from trivium.formats.questions import SPLITS, Question, read_questions
from trivium.formats.trec import read_run, write_run
from trivium.kvqae.knowledge_base.passage_texts import stream_passages
from trivium.kvqae.retrieval.lucene import QUERIES_A_BATCH, Searcher
from trivium.kvqae.retrieval.relevance import judge_passages, pool_runs
from trivium.measures.ranking import evaluate
from trivium.measures.runs import Run


def documents(passages: Path, articles: Path, limit: int | None) -> Iterator[tuple[int, str]]:
    """Stream (passage, title and text) of the first `limit` passages."""
    batches = stream_passages(passages, articles, batch_size=4096, limit=limit)
    for first, titles, texts in tqdm(batches, desc="index", unit="batch", mininterval=5, leave=False):
        for passage, (title, text) in enumerate(zip(titles.to_pylist(), texts.to_pylist(), strict=True), first):
            yield passage, f"{title} {text}"


K1_END, B_END = 3.0, 1.0


class SearchParameters(Parameters):
    """What each search is told."""

    elsewhere: ClassVar = {
        "depth": "kvqae.depth",
        "threads": "kvqae.lucene.threads",
        "heap_gib": "kvqae.lucene.heap_gib",
    }
    depth: int = Field(ge=1, description="Passages a question")
    threads: int = Field(ge=1, description="Threads of a search")
    heap_gib: int = Field(ge=1, description="Memory of the Java machine, GiB")


class Bm25SearchParameters(SearchParameters):
    """Section `kvqae.bm25_search`."""

    k1_step: float = Field(gt=0, description="Step of the grid over k1 in [0, 3)")
    b_step: float = Field(gt=0, description="Step of the grid over b in [0, 1)")


@dataclass(frozen=True)
class GridPoint:
    """MRR on validation of one setting."""

    k1: float
    b: float
    mrr: float


def grid(k1_step: float, b_step: float) -> list[tuple[float, float]]:
    """All settings (k1, b)."""
    return list(product(_steps(k1_step, K1_END), _steps(b_step, B_END)))


def _steps(step: float, end: float) -> list[float]:
    """0, step, 2 step, ... below `end`, without accumulated rounding."""
    return [round(index * step, 10) for index in range(ceil(round(end / step, 10)))]


@dataclass(frozen=True)
class Shard:
    """Queries (id, text) that are searched together with one setting."""

    queries: tuple[tuple[str, str], ...]
    k1: float
    b: float


@dataclass(frozen=True)
class Search:
    """BM25 on an index, shard by shard.

    Attributes:
        index: folder of the index.
        parameters: what the search is told.
        engine: where shards are searched; on this machine in this process, whose Java machine has threads.
    """

    index: Path
    parameters: SearchParameters
    engine: Engine

    def runs(self, shards: Iterable[Shard], description: str) -> Iterator[Run]:
        """The ranked passages of each shard's queries."""
        search = partial(search_shard, index=self.index, parameters=self.parameters)
        return self.engine.map(search, shards, description=description, processes=1)


def search_shard(shard: Shard, *, index: Path, parameters: SearchParameters) -> Run:
    """The ranked passages of a shard's queries; a query's do not depend on the others."""
    searcher = _searcher(index, parameters.threads, parameters.heap_gib)
    return searcher.search(shard.queries, k1=shard.k1, b=shard.b, depth=parameters.depth, name="bm25")


@lru_cache(maxsize=1)
def _searcher(index: Path, threads: int, heap_gib: int) -> Searcher:
    return Searcher(index, threads=threads, heap_gib=heap_gib)


def queries_of(questions: Sequence[Question]) -> tuple[tuple[str, str], ...]:
    """Identifiers and texts."""
    return tuple((question.id, question.text) for question in questions)


def grid_search(
    search: Search,
    questions: Sequence[Question],
    passages: Path,
    articles: Path,
    *,
    settings: Sequence[tuple[float, float]],
    work: Path,
) -> list[GridPoint]:
    """MRR of every setting (k1, b).

    What any setting retrieves is pooled and judged once: a passage and a question make one judgement, however many
    settings bring them together. Each setting's run is kept in `work`: after a kill only the missing ones are searched.
    """
    files = {setting: work / "k1-{}-b-{}.trec".format(*setting) for setting in settings}
    missing = [setting for setting, file in files.items() if not file.exists()]
    shards = (Shard(queries_of(questions), k1, b) for k1, b in missing)
    for setting, run in zip(missing, search.runs(shards, "k1 and b"), strict=True):
        write_run(files[setting], run)
    runs = [read_run(file).complete([question.id for question in questions]) for file in files.values()]
    qrels = judge_passages(questions, pool_runs(questions, runs, search.parameters.depth), passages, articles)
    values = [float(np.mean(evaluate(run, qrels, ["mrr"])["mrr"])) for run in runs]
    return [GridPoint(k1, b, mrr) for (k1, b), mrr in zip(settings, values, strict=True)]


def write_runs(out: Path, search: Search, folder: Path, *, k1: float, b: float) -> dict[str, int]:
    """Search every split of a folder of questions; returns how many questions have no result, by split."""
    unanswered = {}
    with write_atomically(out) as beside:
        for split in SPLITS:
            queries = queries_of(read_questions(folder / f"{split}.jsonl"))
            starts = range(0, max(len(queries), 1), QUERIES_A_BATCH)
            shards = (Shard(queries[start : start + QUERIES_A_BATCH], k1, b) for start in starts)
            parts = list(search.runs(shards, split))
            run = Run(
                tuple(query for part in parts for query in part.queries),
                np.concatenate([part.documents for part in parts]),
                np.concatenate([part.scores for part in parts]),
                "bm25",
            )
            write_run(beside / f"{split}.trec", run)
            unanswered[split] = int((run.documents < 0).all(axis=1).sum())
    return unanswered
