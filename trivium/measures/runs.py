"""Ranked lists and relevance judgements: the two objects every measure, fusion and test works on."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trivium.core.errors import BadInput

PADDING = -1


@dataclass(frozen=True, repr=False)
class Run:
    """One system's ranked lists, one row a query; the order in a row is the ranking.

    `ValueError`: one of the conditions below does not hold; the message names the first offending query.

    Attributes:
        queries: unique query ids.
        documents: (queries, depth) int64 document ids, none twice in a row, -1 = padding at the row's end.
        scores: (queries, depth) float64, non-increasing in a row, NaN exactly where padded.
        name: of the system.
        names: of the documents by number; None: their numbers are their names. The functions of this room do not read
            it: they take runs over the same numbers.
    """

    queries: tuple[str, ...]
    documents: NDArray[np.int64]
    scores: NDArray[np.float64]
    name: str = ""
    names: tuple[str, ...] | None = None

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

    def __repr__(self) -> str:
        lists = (
            (query, [name_of(document, self.names) for document in documents[:4].tolist() if document != PADDING])
            for query, documents in zip(self.queries, self.documents, strict=True)
        )
        return show_lists(f"Run {self.name!r}: {len(self.queries)} queries, depth {self.documents.shape[1]}", lists)

    def _refuse(self, bad: NDArray[np.bool_], problem: str) -> None:
        rows = np.flatnonzero(bad.any(axis=1))
        if len(rows):
            raise BadInput(f"run {self.name!r}: query {self.queries[rows[0]]!r} has {problem} ({len(rows)} queries)")

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

        Both are (queries, n); ids are -1 where there is none, anywhere in the row, and scores are ignored there.
        """
        documents = np.atleast_2d(np.asarray(documents, dtype=np.int64))
        scores = np.where(documents == PADDING, -np.inf, np.asarray(scores, dtype=np.float64))
        order = np.lexsort((documents, -scores), axis=-1)[:, :depth]
        documents = np.take_along_axis(documents, order, axis=1)
        scores = np.take_along_axis(scores, order, axis=1)
        return cls(tuple(queries), documents, np.where(documents == PADDING, np.nan, scores), name)

    @classmethod
    def from_dict(cls, ranked: Mapping[str, Mapping[Any, float]], depth: int | None = None, name: str = "") -> Self:
        """The run of `{query: {document: score}}`; queries may have no document at all.

        Documents are numbers, or names: these are ranked as trec_eval ranks them, of equal scores the last name first.
        """
        names, number = number_names(document for ranked_documents in ranked.values() for document in ranked_documents)
        documents, scores = pad_lists(
            {number[document]: score for document, score in ranked_documents.items()}
            for ranked_documents in ranked.values()
        )
        return replace(cls.from_scores(tuple(ranked), documents, scores, depth=depth, name=name), names=names)

    def select(self, queries: Iterable[str]) -> "Run":
        """The rows of these queries, in their order; `ValueError`: a query is not in the run."""
        queries = tuple(queries)
        rows = _rows_of(queries, self.queries, f"the run {self.name!r} lacks")
        return replace(self, queries=queries, documents=self.documents[rows], scores=self.scores[rows])

    def first(self, depth: int | None) -> "Run":
        """The best `depth` documents of each list; None for all."""
        return replace(self, documents=self.documents[:, :depth], scores=self.scores[:, :depth])

    def complete(self, queries: Iterable[str]) -> "Run":
        """The run over exactly these queries, in their order; an empty list for a query that it lacks.

        A TREC file has no line for a query without results, so a run read from one may lack queries. `ValueError`: the
        run has a query that is not among these.
        """
        queries = tuple(queries)
        rows = _rows_of(self.queries, queries, f"not judged, or not among these queries: the run {self.name!r} has")
        documents = np.full((len(queries), self.documents.shape[1]), PADDING, dtype=np.int64)
        scores = np.full(documents.shape, np.nan)
        documents[rows], scores[rows] = self.documents, self.scores
        return replace(self, queries=queries, documents=documents, scores=scores)


@dataclass(frozen=True, repr=False)
class Qrels:
    """Relevance judgements.

    Attributes:
        queries: unique query ids.
        relevant: for each query its relevant document ids, int64, sorted, possibly none.
        grades: for each query the grades of these, int64 above 0; by default all are 1. Only nDCG asks for them.
        names: as of `Run`.
    """

    queries: tuple[str, ...]
    relevant: tuple[NDArray[np.int64], ...]
    grades: tuple[NDArray[np.int64], ...] = ()
    names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "queries", tuple(self.queries))
        unique = [np.unique(np.asarray(ids, dtype=np.int64), return_index=True) for ids in self.relevant]
        relevant = tuple(ids for ids, _ in unique)
        grades = self.grades or [np.ones(len(ids), np.int64) for ids in self.relevant]
        ordered = (np.asarray(own, np.int64)[first] for own, (_, first) in zip(grades, unique, strict=True))
        object.__setattr__(self, "relevant", relevant)
        object.__setattr__(self, "grades", tuple(ordered))
        _check_unique(self.queries, "qrels")
        if len(self.queries) != len(relevant):
            raise ValueError(f"qrels: {len(self.queries)} queries, but {len(relevant)} lists of relevant documents")
        for query, ids in zip(self.queries, relevant, strict=True):
            if len(ids) and ids[0] < 0:
                raise ValueError(f"qrels: query {query!r} has a negative document id")

    def __repr__(self) -> str:
        lists = (
            (query, [f"{name_of(one, self.names)}: {grade}" for one, grade in zip(ids[:4], own, strict=False)])
            for query, ids, own in zip(self.queries, self.relevant, self.grades, strict=True)
        )
        return show_lists(f"Qrels: {len(self.queries)} queries, {sum(map(len, self.relevant))} relevant", lists)

    @classmethod
    def from_dict(cls, relevant: Mapping[str, Mapping[Any, int] | Iterable[Any]]) -> Self:
        """The judgements of `{query: relevant documents}` or `{query: {document: grade}}`; a query may have none.

        `ValueError`: a text where a list of documents is meant, or a grade that is no whole number.
        """
        graded: dict[str, dict[Any, int]] = {}
        for query, ids in relevant.items():
            if isinstance(ids, str | bytes):
                raise ValueError(f"qrels: query {query!r}: {ids!r} is no list of documents")
            grades = ids if isinstance(ids, Mapping) else dict.fromkeys(ids, 1)
            for document, grade in grades.items():
                if not isinstance(grade, Real) or not float(grade).is_integer():
                    raise ValueError(f"query {query!r}: the grade {grade!r} of {document!r} is no whole number")
            graded[query] = {document: grade for document, grade in grades.items() if grade > 0}
        names, number = number_names(document for grades in graded.values() for document in grades)
        ids = [np.array([number[document] for document in grades], np.int64) for grades in graded.values()]
        own = tuple(np.array([*grades.values()], np.int64) for grades in graded.values())
        return cls(tuple(graded), tuple(ids), own, names)

    def select(self, queries: Iterable[str]) -> "Qrels":
        """The judgements of these queries, in their order; `ValueError`: a query is not in the qrels."""
        queries = tuple(queries)
        rows = _rows_of(queries, self.queries, "not judged:")
        return Qrels(
            queries, tuple(self.relevant[row] for row in rows), tuple(self.grades[row] for row in rows), self.names
        )


def pad_lists(lists: Iterable[Mapping[int, float]]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return documents and scores of {document: score} lists as arrays (lists, longest), padded as those of a `Run`."""
    rows = list(lists)
    shape = len(rows), max(map(len, rows), default=0)
    documents, scores = np.full(shape, PADDING, dtype=np.int64), np.full(shape, np.nan)
    for row, ranked in enumerate(rows):
        documents[row, : len(ranked)], scores[row, : len(ranked)] = list(ranked), list(ranked.values())
    return documents, scores


def relevance_matrix(run: Run, qrels: Qrels) -> NDArray[np.bool_]:
    """Whether each ranked document is relevant, (queries, depth) in the run's order of queries; padding never is.

    `ValueError`: run and qrels are not about the same queries; the message names the difference. Nothing is assumed
    about a query that only one of them has: `select` first, or give it an empty row.
    """
    check_same_queries(run.queries, qrels.queries, f"run {run.name!r}", "qrels")
    return look_up_grades(run.documents, qrels.select(run.queries)) > 0


def look_up_grades(documents: NDArray[np.int64], qrels: Qrels) -> NDArray[np.int64]:
    """The grade of each document, 0 where irrelevant: row i of (queries, n) ids against query i of the qrels."""
    matrix = np.zeros(documents.shape, dtype=np.int64)
    for row, (relevant, grades) in enumerate(zip(qrels.relevant, qrels.grades, strict=True)):
        if len(relevant):
            place = np.searchsorted(relevant, documents[row]).clip(max=len(relevant) - 1)
            matrix[row] = np.where(relevant[place] == documents[row], grades[place], 0)
    return matrix


def number_names(documents: Iterable[Any]) -> tuple[tuple[str, ...] | None, dict[Any, int]]:
    """The documents' names by number, and their numbers; None of documents that are numbers themselves.

    The last name comes first, so that equal scores are ranked as trec_eval does.
    """
    names = set(documents)
    if not any(isinstance(name, str) for name in names):
        return None, {number: number for number in names}
    if wrong := [name for name in names if not isinstance(name, str)]:
        raise ValueError(f"documents bear names or numbers, not both: {wrong[0]!r} is no text")
    ordered = tuple(sorted(names, reverse=True))
    return ordered, {name: number for number, name in enumerate(ordered)}


def name_of(document: int, names: Sequence[str] | None) -> str:
    """The name of a document."""
    return str(document) if names is None else names[document]


def show_lists(title: str, lists: Iterable[tuple[str, Sequence[str]]]) -> str:
    """A title and the first five lists, of each the first three names."""
    shown = [(query, [*names[:3], *["…"] * (len(names) > 3)]) for query, names in islice(lists, 6)]
    width = max((len(query) for query, _ in shown[:5]), default=0)
    rows = [f"  {query:<{width}}  {', '.join(names)}".rstrip() for query, names in shown[:5]]
    return "\n".join([title, *rows, *["  …"] * (len(shown) > 5)])


def check_same_queries(first: Sequence[str], second: Sequence[str], first_name: str, second_name: str) -> None:
    """Refuse two sets of query ids that differ, naming up to three on each side."""
    if set(first) != set(second):
        only_first = [query for query in first if query not in set(second)]
        only_second = [query for query in second if query not in set(first)]
        raise ValueError(
            f"different queries: {len(only_first)} only in {first_name} {only_first[:3]}, "
            f"{len(only_second)} only in {second_name} {only_second[:3]}"
        )


def _check_unique(queries: Sequence[str], owner: str) -> None:
    if len(set(queries)) != len(queries):
        twice = next(query for query, count in Counter(queries).items() if count > 1)
        raise ValueError(f"{owner}: query {twice!r} appears twice")


def _rows_of(selected: Sequence[str], queries: Sequence[str], problem: str) -> NDArray[np.int64]:
    index = {query: row for row, query in enumerate(queries)}
    missing = [query for query in selected if query not in index]
    if missing:
        raise ValueError(f"{problem} {len(missing)} of {len(selected)} queries, the first {missing[:3]}")
    return np.array([index[query] for query in selected], dtype=np.int64)
