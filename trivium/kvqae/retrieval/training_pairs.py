"""Make and draw training pairs of the dual encoder: relevant passages, and BM25's hard negatives (kvqae.md §3)."""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from trivium.core.errors import BadInput
from trivium.core.tables import read_table, write_table
from trivium.formats.questions import Question, read_questions
from trivium.formats.trec import read_run_over
from trivium.kvqae.knowledge_base.passage_texts import Ids, passages_of_articles
from trivium.kvqae.retrieval.relevance import judge_passages, pool_runs
from trivium.measures.runs import PADDING, Run

_LISTS = {name: pa.list_(pa.int64()) for name in ("positives", "negatives")}
SCHEMA = pa.schema({"id": pa.string(), "question": pa.string(), **_LISTS})


@dataclass(frozen=True)
class PairFiles:
    """Files of training pairs, one for each split, and the knowledge base whose passages they name."""

    train: Path
    validation: Path
    kb: Path


def make_pairs(
    questions: Sequence[Question], run: Run, own: Sequence[Ids], kb: Path
) -> tuple[pa.Table, dict[str, float]]:
    """Choose positives and hard negatives of each question, from its row of BM25's run and its `own` article.

    Positives are the relevant passages in BM25's order, then those of the entity's article; negatives are BM25's
    irrelevant passages in its order. Questions without either are dropped and counted. The authors' code takes the
    original answer alone for relevance, and the own article only where BM25 finds nothing relevant.
    """
    retrieved = pool_runs(questions, [run], run.documents.shape[1])
    pool = [np.union1d(listed, mine) for listed, mine in zip(retrieved, own, strict=True)]
    judged = judge_passages(questions, pool, kb)
    rows = []
    counts = {"questions": 0.0, "dropped_without_positive": 0.0, "dropped_without_negative": 0.0}
    for question, ranked, mine, relevant in zip(questions, run.documents, own, judged.relevant, strict=True):
        ranked = ranked[ranked != PADDING]
        candidates = np.array(list(dict.fromkeys([*ranked.tolist(), *mine.tolist()])), dtype=np.int64)
        positives, negatives = candidates[np.isin(candidates, relevant)], ranked[~np.isin(ranked, relevant)]
        if not len(positives):
            counts["dropped_without_positive"] += 1
        elif not len(negatives):
            counts["dropped_without_negative"] += 1
        else:
            counts["questions"] += 1
            rows.append({"id": question.id, "question": question.text, "positives": positives, "negatives": negatives})
    return pa.Table.from_pylist(rows, schema=SCHEMA), counts


def own_passages(questions: Sequence[Question], kb: Path) -> list[Ids]:
    """List the passages of the article of each question's entity; empty where there is no such article."""
    passages_of = passages_of_articles(kb, {question.wikidata_id for question in questions})
    return [passages_of.get(question.wikidata_id or "", np.empty(0, np.int64)) for question in questions]


def write_pairs(files: PairFiles, *, questions: Path, runs: Path, depth: int) -> dict[str, float]:
    """Write the pairs of each split from BM25's best `depth` passages; returns counts."""
    metrics: dict[str, float] = {}
    for split, out in (("train", files.train), ("validation", files.validation)):
        of_split = read_questions(questions / f"{split}.jsonl")
        run = read_run_over(runs / f"{split}.trec", [question.id for question in of_split]).first(depth)
        own = own_passages(of_split, files.kb)
        table, counts = make_pairs(of_split, run, own, files.kb)
        if not len(table):
            raise BadInput("no question has both a positive and a negative", file=runs / f"{split}.trec")
        write_table(out, table)
        metrics |= {f"{split}_{count}": value for count, value in counts.items()}
        metrics[f"{split}_without_own_article"] = sum(not len(ids) for ids in own)
    return metrics


@dataclass(frozen=True)
class Pairs:
    """Questions' texts, with the numbers of relevant passages, and of BM25's best irrelevant ones, best first."""

    questions: list[str]
    positives: list[NDArray[np.int64]]
    negatives: list[NDArray[np.int64]]

    def passages(self) -> NDArray[np.int64]:
        """Return the numbers of all passages, each once, ascending."""
        return np.unique(np.concatenate([*self.positives, *self.negatives]))


Triple = tuple[int, int, int]  # a question (its row in `Pairs`), one relevant and one irrelevant passage


def read_pairs(path: Path) -> Pairs:
    """Read a split that `write_pairs` wrote."""
    table = read_table(path, ["question", "positives", "negatives"])
    positives, negatives = (
        [np.asarray(ids, dtype=np.int64) for ids in table[name].to_pylist()] for name in ("positives", "negatives")
    )
    return Pairs(table["question"].to_pylist(), positives, negatives)


def draw_batches(pairs: Pairs, batch_size: int, seed: int) -> Iterator[list[Triple]]:
    """Draw an endless sequence of batches, in rounds over the questions in random order.

    One positive and one negative of a question are drawn anew each time. In-batch negatives have to be irrelevant: a
    question is deferred to the next batch when a passage drawn for it is relevant to another question of the batch, or
    vice versa. The n-th batch depends only on the seed, so that a training can resume anywhere.
    """
    random = np.random.default_rng(seed)
    relevant = [frozenset(ids.tolist()) for ids in pairs.positives]
    waiting: deque[int] = deque()
    while True:
        batch: list[Triple] = []
        put_off: list[int] = []
        drawn: set[int] = set()
        answering: set[int] = set()  # relevant to a question of the batch
        refilled = False
        while len(batch) < batch_size:
            if not waiting:
                if refilled:
                    break
                order = random.permutation(len(relevant)).tolist()
                waiting.extend(question for question in order if question not in put_off)
                refilled = True
            question = waiting.popleft()
            positive, negative = (
                int(ids[random.integers(len(ids))]) for ids in (pairs.positives[question], pairs.negatives[question])
            )
            if positive in answering or negative in answering or relevant[question] & drawn:
                put_off.append(question)
                continue
            batch.append((question, positive, negative))
            drawn |= {positive, negative}
            answering |= relevant[question]
        waiting.extendleft(reversed(put_off))
        yield batch
