"""Runs and judgements as people have them: our objects, dictionaries with any names, TREC files, tables of pandas.

What comes together is numbered together, so that a file may stand beside a dictionary. Documents with equal scores are
ordered as trec_eval orders them, by their names, last name first; where all are our objects, their numbers are kept.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from trivium.formats.trec import read_qrels, read_run
from trivium.measures.runs import PADDING, Qrels, Run


class Table(Protocol):
    """A DataFrame of pandas."""

    @property
    def columns(self) -> Any:  # noqa: D102
        ...

    def __getitem__(self, name: str, /) -> Any: ...


# {query: {document: grade}} or {query: relevant documents}; a table has columns query, document and relevance.
Judgements: TypeAlias = Qrels | Mapping[str, Mapping[Any, int] | Iterable[Any]] | str | PathLike[str] | Table
# {query: {document: score}}; a table has columns query, document and score.
Ranked: TypeAlias = Run | Mapping[str, Mapping[Any, float]] | str | PathLike[str] | Table

QUERY, DOCUMENT = ("query", "query_id", "q_id"), ("document", "doc_id", "docno")
GRADE, SCORE = ("relevance", "rel", "score"), ("score",)


@dataclass(frozen=True)
class Given:
    """What was given together, over the same documents.

    Attributes:
        qrels: the judgements; none at all where none were given.
        runs: one a system.
        names: of the documents by number; None where all were our objects, whose numbers are their names.
    """

    qrels: Qrels
    runs: tuple[Run, ...]
    names: tuple[str, ...] | None

    def named(self, run: Run) -> dict[str, dict[str, float]]:
        """{query: {document: score}} of a run over these documents, best first."""
        assert self.names is not None
        return {
            query: {self.names[document]: score for document, score in zip(found, scores, strict=True) if document >= 0}
            for query, found, scores in zip(run.queries, run.documents.tolist(), run.scores.tolist(), strict=True)
        }


def take(qrels: Judgements | None, runs: Mapping[str, Ranked] | Sequence[Ranked]) -> Given:
    """Read what was given.

    Args:
        qrels: judgements of any kind; a grade above 0 is relevant. None: there are none.
        runs: by name, or in a row: a file bears the name of its tag, what has no name that of its place.

    Raises:
        BadInput: see `read_run` and `read_qrels`.
        ValueError: none of these kinds, a table without these columns, a document twice for a query, a grade that is no
            whole number, or a score that is not finite.
    """
    named = list(runs.items()) if isinstance(runs, Mapping) else [("", run) for run in runs]
    empty = Qrels((), ())
    ours = [(name, run) for name, run in named if isinstance(run, Run)]
    if len(ours) == len(named) and (qrels is None or isinstance(qrels, Qrels)):
        kept = tuple(replace(run, name=_called(name or run.name, place)) for place, (name, run) in enumerate(ours, 1))
        return Given(qrels or empty, kept, None)
    vocabulary: dict[str, int] = {}
    taken = empty if qrels is None else _qrels(qrels, vocabulary)
    found = [_run(run, vocabulary, name) for name, run in named]
    # Lower numbers come first where scores are equal: the last name gets the first.
    names = sorted(vocabulary, reverse=True)
    number = np.empty(len(names) + 1, np.int64)
    number[[vocabulary[name] for name in names]] = np.arange(len(names))
    number[PADDING] = PADDING
    return Given(
        Qrels(taken.queries, tuple(number[each] for each in taken.relevant)),
        tuple(
            Run(run.queries, number[run.documents], run.scores, _called(run.name, place))
            for place, run in enumerate(found, 1)
        ),
        tuple(names),
    )


def _called(name: str, place: int) -> str:
    return name or f"run {place}"


def _qrels(given: Judgements, vocabulary: dict[str, int]) -> Qrels:
    if isinstance(given, Qrels):
        return Qrels(given.queries, tuple(_numbers(each, vocabulary) for each in given.relevant))
    if isinstance(given, str | PathLike):
        return read_qrels(Path(given), vocabulary)
    relevant: dict[str, list[int]] = {}
    for query, document, grade in _judged(given):
        found = relevant.setdefault(query, [])
        if document is None:
            continue
        if grade != int(grade):
            raise ValueError(f"query {query!r}: the grade {grade!r} of {document!r} is no whole number")
        if grade > 0:
            found.append(vocabulary.setdefault(str(document), len(vocabulary)))
    return Qrels.from_dict(relevant)


def _run(given: Ranked, vocabulary: dict[str, int], name: str) -> Run:
    if isinstance(given, Run):
        documents = _numbers(given.documents.ravel(), vocabulary).reshape(given.documents.shape)
        return Run(given.queries, documents, given.scores, name or given.name)
    if isinstance(given, str | PathLike):
        return read_run(Path(given), name or None, vocabulary)
    lists: dict[str, list[tuple[float, str]]] = {}
    for query, document, score in _scored(given):
        found = lists.setdefault(query, [])
        if document is not None:
            found.append((float(score), str(document)))
    shape = len(lists), max(map(len, lists.values()), default=0)
    documents, scores = np.full(shape, PADDING, np.int64), np.full(shape, np.nan)
    for row, found in enumerate(lists.values()):
        found.sort(reverse=True)
        documents[row, : len(found)] = [vocabulary.setdefault(name, len(vocabulary)) for _, name in found]
        scores[row, : len(found)] = [score for score, _ in found]
    return Run(tuple(lists), documents, scores, name)


def _numbers(documents: NDArray[np.int64], vocabulary: dict[str, int]) -> NDArray[np.int64]:
    """Of documents that are numbers already: a number and its digits are the same name."""
    found = [PADDING if each == PADDING else vocabulary.setdefault(str(each), len(vocabulary)) for each in documents]
    return np.array(found, np.int64)


def _judged(given: Any) -> Iterator[tuple[str, Any, Any]]:
    if not isinstance(given, Mapping):
        yield from _rows(given, GRADE)
        return
    for query, judged in given.items():
        yield str(query), None, 0  # counts, whether anything is relevant or not
        for document, grade in judged.items() if isinstance(judged, Mapping) else ((each, 1) for each in judged):
            yield str(query), document, grade


def _scored(given: Any) -> Iterator[tuple[str, Any, Any]]:
    if not isinstance(given, Mapping):
        yield from _rows(given, SCORE)
        return
    for query, retrieved in given.items():
        yield str(query), None, 0.0
        for document, score in retrieved.items():
            yield str(query), document, score


def _rows(table: Any, value: Sequence[str]) -> Iterator[tuple[str, Any, Any]]:
    """Rows of a table of pandas: query, document, value."""
    there = list(getattr(table, "columns", ()))
    if not there:
        kinds = "one of our objects, a dictionary, the path of a TREC file, a DataFrame of pandas"
        raise ValueError(f"{type(table).__name__} is no run and no judgements (choices: {kinds})")
    columns = []
    for names in (QUERY, DOCUMENT, value):
        name = next((name for name in names if name in there), None)
        if name is None:
            raise ValueError(f"the table has no column {' or '.join(names)} (it has {', '.join(map(str, there))})")
        columns.append(table[name].tolist())
    yield from ((str(query), document, number) for query, document, number in zip(*columns, strict=True))
