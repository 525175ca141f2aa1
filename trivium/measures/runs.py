"""Ranked lists and relevance judgements: the two objects every measure, fusion and test works on."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

PADDING = -1


@dataclass(frozen=True)
class Run:
    """One system's ranked lists, one row a query; the order in a row is the ranking.

    Attributes:
        queries: unique query ids.
        documents: (queries, depth) int64 document ids, none twice in a row, -1 = padding at the row's end.
        scores: (queries, depth) float64, non-increasing in a row, NaN exactly where padded.
        name: of the system.

    Raises:
        ValueError: one of these conditions does not hold; the message names the first offending query.
    """

    queries: tuple[str, ...]
    documents: NDArray[np.int64]
    scores: NDArray[np.float64]
    name: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "queries", tuple(self.queries))
        object.__setattr__(self, "documents", np.asarray(self.documents, dtype=np.int64))
        object.__setattr__(self, "scores", np.asarray(self.scores, dtype=np.float64))
        _check_unique(self.queries, f"run {self.name!r}")
        expected = (len(self.queries), self.documents.shape[-1])
        if self.documents.shape != expected or self.scores.shape != expected:
            raise ValueError(
                f"run {self.name!r}: documents {self.documents.shape} and scores {self.scores.shape} "
                f"should both be (queries, depth) = {expected}"
            )
        padded = self.documents == PADDING
        in_order = np.sort(self.documents, axis=1)
        twice = (in_order[:, 1:] == in_order[:, :-1]) & (in_order[:, 1:] != PADDING)
        self._refuse(self.documents < PADDING, "a negative document id")
        self._refuse(padded[:, :-1] & ~padded[:, 1:], "a document after padding")
        self._refuse(twice, "a document twice")
        self._refuse(np.isfinite(self.scores) == padded, "a score that is not finite, or a score where padded")
        self._refuse(np.diff(self.scores, axis=1) > 0, "scores that increase")

    def _refuse(self, bad: NDArray[np.bool_], problem: str) -> None:
        rows = np.flatnonzero(bad.any(axis=1))
        if len(rows):
            raise ValueError(f"run {self.name!r}: query {self.queries[rows[0]]!r} has {problem} ({len(rows)} queries)")

    @classmethod
    def from_scores(
        cls,
        queries: Sequence[str],
        documents: ArrayLike,
        scores: ArrayLike,
        *,
        depth: int | None = None,
        name: str = "",
    ) -> Self:
        """Rank each row by score, highest first; equal scores by lower document id.

        Args:
            queries: query ids, one a row.
            documents: (queries, n) ids, -1 where there is none (anywhere in the row).
            scores: (queries, n) finite scores; ignored where there is no document.
            depth: keep the best `depth`; None keeps all.
            name: of the system.
        """
        documents = np.atleast_2d(np.asarray(documents, dtype=np.int64))
        scores = np.where(documents == PADDING, -np.inf, np.asarray(scores, dtype=np.float64))
        order = np.lexsort((documents, -scores), axis=-1)[:, :depth]
        documents = np.take_along_axis(documents, order, axis=1)
        scores = np.take_along_axis(scores, order, axis=1)
        return cls(tuple(queries), documents, np.where(documents == PADDING, np.nan, scores), name)

    @classmethod
    def from_dict(cls, ranked: Mapping[str, Mapping[int, float]], depth: int | None = None, name: str = "") -> Self:
        """The run of `{query: {document: score}}`; queries may have no document at all."""
        longest = max(map(len, ranked.values()), default=0)
        documents = np.full((len(ranked), longest), PADDING, dtype=np.int64)
        scores = np.full((len(ranked), longest), np.nan)
        for row, found in enumerate(ranked.values()):
            documents[row, : len(found)] = list(found.keys())
            scores[row, : len(found)] = list(found.values())
        return cls.from_scores(tuple(ranked), documents, scores, depth=depth, name=name)

    def select(self, queries: Iterable[str]) -> "Run":
        """The rows of these queries, in their order.

        Raises:
            ValueError: a query is not in the run.
        """
        queries = tuple(queries)
        rows = _rows_of(queries, self.queries, f"the run {self.name!r} lacks")
        return Run(queries, self.documents[rows], self.scores[rows], self.name)

    def complete(self, queries: Iterable[str]) -> "Run":
        """The run over exactly these queries, in their order; an empty list for a query that it lacks.

        A TREC file has no line for a query without results, so a run read from one may lack queries.

        Raises:
            ValueError: the run has a query that is not among these.
        """
        queries = tuple(queries)
        rows = _rows_of(self.queries, queries, f"not judged, or not among these queries: the run {self.name!r} has")
        documents = np.full((len(queries), self.documents.shape[1]), PADDING, dtype=np.int64)
        scores = np.full(documents.shape, np.nan)
        documents[rows], scores[rows] = self.documents, self.scores
        return Run(queries, documents, scores, self.name)


@dataclass(frozen=True)
class Qrels:
    """Binary relevance judgements.

    Attributes:
        queries: unique query ids.
        relevant: for each query its relevant document ids, int64, sorted, possibly none.
    """

    queries: tuple[str, ...]
    relevant: tuple[NDArray[np.int64], ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "queries", tuple(self.queries))
        relevant = tuple(np.unique(np.asarray(ids, dtype=np.int64)) for ids in self.relevant)
        object.__setattr__(self, "relevant", relevant)
        _check_unique(self.queries, "qrels")
        if len(self.queries) != len(relevant):
            raise ValueError(f"qrels: {len(self.queries)} queries, but {len(relevant)} lists of relevant documents")
        for query, ids in zip(self.queries, relevant, strict=True):
            if len(ids) and ids[0] < 0:
                raise ValueError(f"qrels: query {query!r} has a negative document id")

    @classmethod
    def from_dict(cls, relevant: Mapping[str, Iterable[int]]) -> Self:
        """The judgements of `{query: relevant documents}`; a query may have none.

        Raises:
            ValueError: a text, or grades, where a list of documents is meant.
        """
        for query, ids in relevant.items():
            if isinstance(ids, str | bytes | Mapping):
                raise ValueError(f"qrels: query {query!r}: {ids!r} is no list of documents")
        return cls(tuple(relevant), tuple(np.array(sorted(ids), dtype=np.int64) for ids in relevant.values()))

    def select(self, queries: Iterable[str]) -> "Qrels":
        """The judgements of these queries, in their order.

        Raises:
            ValueError: a query is not in the qrels.
        """
        queries = tuple(queries)
        rows = _rows_of(queries, self.queries, "not judged:")
        return Qrels(queries, tuple(self.relevant[row] for row in rows))


def relevance_matrix(run: Run, qrels: Qrels) -> NDArray[np.bool_]:
    """Whether each ranked document is relevant, (queries, depth) in the run's order of queries; padding never is.

    Raises:
        ValueError: run and qrels are not about the same queries; the message names the difference. Nothing is
            assumed about a query that only one of them has: `select` first, or give it an empty row.
    """
    check_same_queries(run.queries, qrels.queries, f"run {run.name!r}", "qrels")
    return mark_relevant(run.documents, qrels.select(run.queries))


def mark_relevant(documents: NDArray[np.int64], qrels: Qrels) -> NDArray[np.bool_]:
    """Whether each document is relevant: row i of (queries, n) document ids against query i of the qrels."""
    matrix = np.zeros(documents.shape, dtype=bool)
    for row, relevant in enumerate(qrels.relevant):
        if len(relevant):
            nearest = relevant.take(np.searchsorted(relevant, documents[row]), mode="clip")
            matrix[row] = nearest == documents[row]
    return matrix


def check_same_queries(first: Sequence[str], second: Sequence[str], first_name: str, second_name: str) -> None:
    """Refuse two sets of query ids that differ, naming up to three on each side."""
    if set(first) != set(second):
        only_first = [query for query in first if query not in set(second)]
        only_second = [query for query in second if query not in set(first)]
        raise ValueError(
            f"different queries: {len(only_first)} only in {first_name} {only_first[:3]}, "
            f"{len(only_second)} only in {second_name} {only_second[:3]}"
        )


def _check_unique(queries: Sequence[str], where: str) -> None:
    if len(set(queries)) != len(queries):
        twice = next(query for query, count in Counter(queries).items() if count > 1)
        raise ValueError(f"{where}: query {twice!r} appears twice")


def _rows_of(wanted: Sequence[str], queries: Sequence[str], problem: str) -> NDArray[np.int64]:
    index = {query: row for row, query in enumerate(queries)}
    missing = [query for query in wanted if query not in index]
    if missing:
        raise ValueError(f"{problem} {len(missing)} of {len(wanted)} queries, the first {missing[:3]}")
    return np.array([index[query] for query in wanted], dtype=np.int64)
