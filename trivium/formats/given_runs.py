"""Runs and judgements as people have them: our objects, dictionaries with any names, TREC files, tables of pandas.

What comes together is numbered together, so that a file may stand beside a dictionary. Documents with equal scores are
ordered as trec_eval orders them, by their names, last name first; where all are our objects, their numbers are kept.
A name is a text or a number; a whole float, as pandas makes it of numbers in a column with gaps, is that number.
"""

import math
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from operator import itemgetter
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from trivium.formats import trec
from trivium.measures.runs import PADDING, Qrels, Run, name_of

# {query: {document: grade}} or {query: relevant documents}; a table has columns query, document and relevance.
Judgements: TypeAlias = Qrels | Mapping[str, Mapping[Any, int] | Iterable[Any]] | str | PathLike[str] | Any
# {query: {document: score}}; a table has columns query, document and score.
Ranked: TypeAlias = Run | Mapping[str, Mapping[Any, float]] | str | PathLike[str] | Any

# PyTerrier's results have the words of a query in `query`, beside `qid`, and Lucene's number beside `docno`.
QUERY, DOCUMENT = ("query_id", "q_id", "qid", "query"), ("document", "doc_id", "docno", "docid")
_LARGEST_EXACT = 2**53  # floats that are larger stand for several whole numbers
GRADE, SCORE = ("relevance", "rel", "label", "score"), ("score",)


@dataclass(frozen=True)
class Given:
    """Judgements and runs over the same documents.

    Attributes:
        qrels: the judgements; none at all where none were given.
        runs: one a system.
        names: of the documents by number; None where all were our objects whose numbers are their names.
        only_ours: whether all runs were our objects.
    """

    qrels: Qrels
    runs: tuple[Run, ...]
    names: tuple[str, ...] | None
    only_ours: bool = True

    def named(self, run: Run) -> Run | dict[str, dict[str, float]]:
        """A run over these documents as they were given: our object, or {query: {document: score}}, best first."""
        if self.names is None or self.only_ours:
            return replace(run, names=self.names)
        return _by_name(run, self.names)


def take(qrels: Judgements | None, runs: Mapping[str, Ranked] | Sequence[Ranked]) -> Given:
    """Read judgements and runs of any kind, and number their documents together.

    Args:
        qrels: judgements of any kind; a grade above 0 is relevant. None: there are none.
        runs: by name, or in a row: a file bears the name of its tag, what has no name that of its place.

    Raises:
        BadInput: see `read_run` and `read_qrels`.
        ValueError: no run, no list of runs, none of these kinds, a table without these columns, a name that is no text
            and no number, a query or a document of one twice, a text where documents are to stand, a grade that is no
            whole number, or a score that is not finite; the message names query and value.

    Warns:
        UserWarning: a run has no document at all, or nothing that it retrieved is judged for its query, as where names
            are written in two ways.
    """
    if isinstance(runs, str | bytes | PathLike | Run) or not isinstance(runs, Iterable) or hasattr(runs, "columns"):
        kind = type(runs).__name__ if hasattr(runs, "columns") else repr(runs)
        raise ValueError(f"{kind} is no list and no mapping of runs")
    named = list(runs.items()) if isinstance(runs, Mapping) else [("", run) for run in runs]
    if wrong := [name for name, _ in named if not isinstance(name, str)]:
        raise ValueError(f"{wrong[0]!r} is no name of a system: a text is meant")
    if not named:
        raise ValueError("no run")
    ours = [(name, run) for name, run in named if isinstance(run, Run)]
    judged_by_us = qrels if isinstance(qrels, Qrels) else None
    if (
        len(ours) == len(named)
        and all(run.names is None for _, run in ours)
        and (qrels is None or (judged_by_us is not None and judged_by_us.names is None))
    ):
        kept = tuple(replace(run, name=_called(name or run.name, place)) for place, (name, run) in enumerate(ours, 1))
        if judged_by_us is not None:
            relevant = map(set, map(np.ndarray.tolist, judged_by_us.relevant))
            _warn_of_strangers(kept, dict(zip(judged_by_us.queries, relevant, strict=True)), str)
        return Given(judged_by_us or Qrels((), ()), kept, None)
    graded = {} if qrels is None else _read_grades(qrels)
    read = [_read_scores(run, name) for name, run in named]
    # Lower numbers come first where scores are equal: the last name gets the first.
    lists: list[Mapping[str, Mapping[str, float]]] = [graded, *(scored for scored, _ in read)]
    names = sorted({name for by_query in lists for ranked in by_query.values() for name in ranked}, reverse=True)
    number = {name: place for place, name in enumerate(names)}
    numbered = tuple(_run(scored, number, _called(name, place)) for place, (scored, name) in enumerate(read, 1))
    judged = {query: {number[name]: grade for name, grade in grades.items()} for query, grades in graded.items()}
    _warn_of_strangers(numbered, judged, names.__getitem__)
    return Given(Qrels.from_dict(judged), numbered, tuple(names), only_ours=len(ours) == len(named))


def read_run(path: str | PathLike[str], name: str | None = None) -> Run:
    """Read a TREC run, whose documents bear any names; its tag is its name by default.

    Raises:
        BadInput: a file that cannot be read; row and field are named.
    """
    vocabulary: dict[str, int] = {}
    run = trec.read_run(path, name, vocabulary)
    return replace(run, names=tuple(vocabulary))


def read_qrels(path: str | PathLike[str]) -> Qrels:
    """Read TREC qrels, whose documents bear any names; a grade above 0 is relevant.

    Raises:
        BadInput: a file that cannot be read; row and field are named.
    """
    vocabulary: dict[str, int] = {}
    qrels = trec.read_qrels(path, vocabulary)
    return replace(qrels, names=tuple(vocabulary))


def _called(name: str, place: int) -> str:
    return name or f"run {place}"


def _read_grades(judgements: Judgements) -> dict[str, dict[str, int]]:
    """Read judgements as {query: {document: grade}}."""
    if isinstance(judgements, Qrels):
        return {
            query: {name_of(document, judgements.names): grade for document, grade in zip(*pairs, strict=True)}
            for query, *pairs in zip(
                judgements.queries, map(np.ndarray.tolist, judgements.relevant),
                map(np.ndarray.tolist, judgements.grades), strict=True,
            )
        }  # fmt: skip
    graded: dict[str, dict[str, int]] = {}
    if isinstance(judgements, str | PathLike):
        vocabulary: dict[str, int] = {}
        by_query = trec.read_grades(Path(judgements), vocabulary)
        names = list(vocabulary)
        return {query: {names[place]: grade for place, grade in grades.items()} for query, grades in by_query.items()}
    for query, document, grade in _lines(judgements, GRADE):
        grades = graded.setdefault(query, {})
        if document is None:
            continue
        if not isinstance(grade, Real) or not float(grade).is_integer():
            raise ValueError(f"query {query!r}: the grade {grade!r} of {document!r} is no whole number")
        if document in grades:
            raise ValueError(f"query {query!r}: {document!r} is judged twice")
        grades[document] = int(float(grade))
    return graded


def _warn_of_strangers(runs: Sequence[Run], judged: Mapping[str, Collection[int]], name: Callable[[int], str]) -> None:
    """Warn of each run of which no document is judged for its query; judgements of ours are those that are relevant."""
    example = next(((query, next(iter(grades))) for query, grades in judged.items() if grades), None)
    if example is None:
        return
    for run in runs:
        lists = dict(zip(run.queries, run.documents.tolist(), strict=True))
        retrieved = [(query, document) for query, ranked in lists.items() for document in ranked if document != PADDING]
        if not retrieved:
            warnings.warn(f"the run {run.name!r} has no document at all", stacklevel=4)
        elif all(document not in judged.get(query, ()) for query, document in retrieved):
            (query, document), (other, relevant) = retrieved[0], example
            warnings.warn(
                f"nothing that the run {run.name!r} retrieved is judged for any query: for {query!r} it has documents "
                f"such as {name(document)!r}, the judgements of {other!r} such as {name(relevant)!r}",
                stacklevel=4,
            )


def _read_scores(source: Ranked, name: str) -> tuple[dict[str, dict[str, float]], str]:
    """Read a run as {query: {document: score}}, best first, with its name; a `Run` keeps its order of equal scores."""
    if isinstance(source, str | PathLike):
        source = read_run(source)
    if isinstance(source, Run):
        return _by_name(source, source.names), name or source.name
    lists: dict[str, dict[str, float]] = {}
    for query, document, score in _lines(source, SCORE):
        scores = lists.setdefault(query, {})
        if document is None:
            continue
        if document in scores:
            raise ValueError(f"{f'run {name!r}, ' if name else ''}query {query!r} has a document twice: {document!r}")
        if not isinstance(score, Real) or not math.isfinite(score):
            raise ValueError(f"query {query!r}: the score {score!r} of {document!r} is no finite number")
        scores[document] = float(score)
    best_first = itemgetter(1, 0)
    return {query: dict(sorted(ranked.items(), key=best_first, reverse=True)) for query, ranked in lists.items()}, name


def _by_name(run: Run, names: Sequence[str] | None) -> dict[str, dict[str, float]]:
    """A run as {query: {document: score}}, best first."""
    return {
        query: {name_of(document, names): score for document, score in zip(*row, strict=True) if document != PADDING}
        for query, *row in zip(run.queries, run.documents.tolist(), run.scores.tolist(), strict=True)
    }


def _run(lists: Mapping[str, Mapping[str, float]], number: Mapping[str, int], name: str) -> Run:
    """The run of {query: {document: score}}, best first, whose documents have these numbers."""
    shape = len(lists), max(map(len, lists.values()), default=0)
    documents, scores = np.full(shape, PADDING, np.int64), np.full(shape, np.nan)
    for row, ranked in enumerate(lists.values()):
        documents[row, : len(ranked)] = [number[document] for document in ranked]
        scores[row, : len(ranked)] = list(ranked.values())
    return Run(tuple(lists), documents, scores, name)


def _lines(table: Any, value: Sequence[str]) -> Iterator[tuple[str, str | None, Any]]:
    """Yield (query, document, grade or score); a query comes first without a document, so that an empty one counts."""
    if not isinstance(table, Mapping):
        yield from _rows(table, value)
        return
    queries: set[str] = set()
    for key, documents in table.items():
        if (query := _name(key, key)) in queries:
            raise ValueError(f"query {query!r} stands twice")
        queries.add(query)
        yield query, None, 0
        if isinstance(documents, Mapping):
            pairs: Iterable[tuple[Any, Any]] = documents.items()
        elif value is SCORE:
            raise ValueError(f"query {query!r}: {documents!r} is no {{document: score}}")
        elif isinstance(documents, str | bytes) or not isinstance(documents, Iterable):
            raise ValueError(f"query {query!r}: {documents!r} is neither {{document: grade}} nor a list of documents")
        else:
            pairs = ((document, 1) for document in documents)
        yield from ((query, _name(document, query), number) for document, number in pairs)


def _name(value: Any, query: Any) -> str:
    """The name of a query, or of a document of it."""
    if isinstance(value, str):
        return value
    if isinstance(value, Integral) and not isinstance(value, bool):
        return str(int(value))
    if not isinstance(value, Real) or isinstance(value, bool) or not math.isfinite(value):
        raise ValueError(f"query {query!r}: {value!r} is no name (choices: a text, a number)")
    if abs(float(value)) >= _LARGEST_EXACT:
        problem = "a number with a point that is too large to be exact; read the column as text"
        raise ValueError(f"query {query!r}: the name {value!r} is {problem}")
    return str(int(float(value)) if float(value).is_integer() else value)


def _rows(table: Any, value: Sequence[str]) -> Iterator[tuple[str, str, Any]]:
    """Rows of a table of pandas: query, document, value."""
    available = list(getattr(table, "columns", ()))
    if not available:
        kinds = "one of our objects, a dictionary, the path of a TREC file, a DataFrame of pandas"
        raise ValueError(f"{type(table).__name__} is no run and no judgements (choices: {kinds})")
    columns = []
    for names in (QUERY, DOCUMENT, value):
        name = next((name for name in names if name in available), None)
        if name is None:
            raise ValueError(f"the table has no column {' or '.join(names)} (it has {', '.join(map(str, available))})")
        if available.count(name) > 1:
            raise ValueError(f"the table has {available.count(name)} columns {name!r}")
        columns.append(table[name].tolist())
    for query, document, number in zip(*columns, strict=True):
        name = _name(query, query)
        yield name, _name(document, name), number
