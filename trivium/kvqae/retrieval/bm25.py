"""BM25: Lucene's indexes, k1 and b by grid search on ViQuAE's validation MRR, then every question (kvqae.md §3)."""

from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from itertools import product
from math import ceil
from pathlib import Path
from typing import ClassVar

from pydantic import Field
from tqdm import tqdm

from trivium.core.atomic import write_atomically
from trivium.core.engine import Engine
from trivium.core.parameters import Parameters
from trivium.formats.questions import SPLITS, Question, read_questions
from trivium.formats.trec import read_run, write_run
from trivium.kvqae.knowledge_base.passage_texts import stream_passages
from trivium.kvqae.retrieval.lucene import Searcher
from trivium.kvqae.retrieval.relevance import judge_passages, pool_runs
from trivium.measures.ranking import mean_reciprocal_rank
from trivium.measures.runs import Run


def documents(passages: Path, articles: Path, limit: int | None) -> Iterator[tuple[int, str]]:
    """Stream (passage, title and text) of the first `limit` passages."""
    batches = stream_passages(passages, articles, batch_size=4096, limit=limit)
    for first, titles, texts in tqdm(batches, desc="index", unit="batch", mininterval=5, leave=False):
        for passage, (title, text) in enumerate(zip(titles.to_pylist(), texts.to_pylist(), strict=True), first):
            yield passage, f"{title} {text}"


K1_END, B_END = 3.0, 1.0
GridPoint = tuple[float, float, float]  # k1, b, MRR on validation


class Bm25SearchParameters(Parameters):
    """Section `kvqae.bm25_search`."""

    places: ClassVar = {
        "depth": "kvqae.depth",
        **{name: f"kvqae.lucene.{name}" for name in ("threads", "heap_gib")},
    }
    depth: int = Field(ge=1, description="Passages a question")
    threads: int = Field(ge=1, description="Threads of a search")
    heap_gib: int = Field(ge=1, description="Memory of the Java machine, GiB")
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
    searcher = _searcher(index, parameters.threads, parameters.heap_gib)
    return searcher.search([(question.id, question.text) for question in questions], k1=k1, b=b,
                           depth=parameters.depth, name="bm25")  # fmt: skip


@lru_cache(maxsize=1)
def _searcher(index: Path, threads: int, heap_gib: int) -> Searcher:
    return Searcher(index, threads=threads, heap_gib=heap_gib)


def grid_search(
    index: Path,
    parameters: Bm25SearchParameters,
    engine: Engine,
    questions: Sequence[Question],
    passages: Path,
    articles: Path,
    work: Path,
) -> list[GridPoint]:
    """Compute the MRR of every setting of the grid.

    What any setting retrieves is pooled and judged once. Each setting's run is kept in `work`: after a kill only the
    missing ones are searched.
    """
    settings = grid(parameters.k1_step, parameters.b_step)
    files = {setting: work / "k1-{}-b-{}.trec".format(*setting) for setting in settings}
    missing = [setting for setting, file in files.items() if not file.exists()]
    search = partial(search_shard, index=index, parameters=parameters)
    # In this process: Java has threads.
    searched = engine.map(search, ((questions, k1, b) for k1, b in missing), description="k1 and b", processes=1)
    for setting, run in zip(missing, searched, strict=True):
        write_run(files[setting], run)
    runs = [read_run(file).complete([question.id for question in questions]) for file in files.values()]
    qrels = judge_passages(questions, pool_runs(questions, runs, parameters.depth), passages, articles)
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
