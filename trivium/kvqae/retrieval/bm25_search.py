"""BM25 search: k1 and b by grid search on ViQuAE's validation MRR, then every question (kvqae.md §3)."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import ceil
from pathlib import Path
from typing import ClassVar

import numpy as np
from pydantic import Field
from tqdm import tqdm

from trivium.files.atomic import write_atomically
from trivium.formats.questions import SPLITS, Question, read_questions
from trivium.formats.trec import read_run, write_run
from trivium.harness.parameters import Parameters
from trivium.kvqae.retrieval.lucene import Searcher
from trivium.kvqae.retrieval.relevance import judge_passages, pool_runs
from trivium.measures.ranking import evaluate
from trivium.measures.runs import Run

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


def search(searcher: Searcher, questions: Sequence[Question], k1: float, b: float, depth: int) -> Run:
    """One setting's ranked passages for the questions' texts."""
    queries = [(question.id, question.text) for question in questions]
    return searcher.search(queries, k1=k1, b=b, depth=depth, name="bm25")


def grid_search(
    searcher: Searcher,
    questions: Sequence[Question],
    passages: Path,
    articles: Path,
    *,
    settings: Sequence[tuple[float, float]],
    depth: int,
    work: Path,
) -> list[GridPoint]:
    """MRR of every setting (k1, b).

    What any setting retrieves is pooled and judged once: a passage and a question make one judgement, however many
    settings bring them together. Each setting's run is kept in `work`: after a kill only the missing ones are searched.
    """
    runs = []
    for k1, b in tqdm(settings, desc="k1 and b", unit="setting", mininterval=5, leave=False):
        shard = work / f"k1-{k1}-b-{b}.trec"
        if not shard.exists():
            write_run(shard, search(searcher, questions, k1, b, depth))
        runs.append(read_run(shard).complete([question.id for question in questions]))
    qrels = judge_passages(questions, pool_runs(questions, runs, depth), passages, articles)
    values = [float(np.mean(evaluate(run, qrels, ["mrr"])["mrr"])) for run in runs]
    return [GridPoint(k1, b, mrr) for (k1, b), mrr in zip(settings, values, strict=True)]


def write_runs(out: Path, searcher: Searcher, folder: Path, *, k1: float, b: float, depth: int) -> dict[str, int]:
    """Search every split of a folder of questions; returns how many questions have no result, by split."""
    unanswered = {}
    with write_atomically(out) as beside:
        for split in SPLITS:
            run = search(searcher, read_questions(folder / f"{split}.jsonl"), k1, b, depth)
            write_run(beside / f"{split}.trec", run)
            unanswered[split] = int((run.documents < 0).all(axis=1).sum())
    return unanswered
