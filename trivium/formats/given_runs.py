"""Runs and judgements of any kind: `Run` and `Qrels`, dictionaries with any names, TREC files, DataFrames of pandas.

The documents of one call are numbered together, so that a file can be compared with a dictionary. Documents with equal
scores are ordered as trec_eval orders them: by their names, the last name first. Where all inputs are `Run` and `Qrels`
without names, their numbers are kept. A name is a text or a number; a whole float, which pandas makes of whole numbers
in a column with gaps, counts as that whole number.
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
from trivium.measures.runs import PADDING, Qrels, Run, name_of, number_names, pad_lists

# {query: {document: grade}} or {query: relevant documents}; a DataFrame has columns query, document and relevance.
Judgements: TypeAlias = Qrels | Mapping[str, Mapping[Any, int] | Iterable[Any]] | str | PathLike[str] | Any
# {query: {document: score}}; a DataFrame has columns query, document and score.
Ranked: TypeAlias = Run | Mapping[str, Mapping[Any, float]] | str | PathLike[str] | Any

# Names of columns, the first that a table has counts: PyTerrier's results have the words of a query in `query`, beside
# its id in `qid`, and Lucene's own number in `docid`, beside `docno`.
QUERY, DOCUMENT = ("query_id", "q_id", "qid", "query"), ("document", "doc_id", "docno", "docid")
_LARGEST_EXACT = 2**53  # a larger float may stand for several whole numbers
GRADE, SCORE = ("relevance", "rel", "label", "score"), ("score",)


@dataclass(frozen=True)
class Given:
    """Judgements and runs over the same documents."""

    qrels: Qrels  # without any query where no judgements were given
    runs: tuple[Run, ...]  # one a system
    names: tuple[str, ...] | None  # of the documents; None where all inputs were `Run` and `Qrels` without names
    only_ours: bool = True  # whether all runs were given as `Run`

    def named(self, run: Run) -> Run | dict[str, dict[str, float]]:
        """Return a run over these documents in the form given: `Run`, or {query: {document: score}}, best first."""
        if self.names is None or self.only_ours:
            return replace(run, names=self.names)
        return _by_name(run, self.names)


def take(qrels: Judgements | None, runs: Mapping[str, Ranked] | Sequence[Ranked]) -> Given:
    """Read judgements (None: there are none) and runs of any kind, and number their documents together.

    Runs are given by name, or as a list: then a file's run is named by its tag, and a run without a name by its place.
    A run without any document, or of which none is judged for its query, gives a warning: names may be spelled in two
    ways.

    Raises:
        BadInput: a file cannot be read; the message names row and field.
        ValueError: no run, no list of runs, none of these kinds, a table without these columns, a name that is neither
            text nor number, a query twice, a document twice for one query, a text in place of a list of documents, a
            grade that is not a whole number, or a score that is not finite; the message names query and value.
    """
    if isinstance(runs, str | bytes | PathLike | Run) or not isinstance(runs, Iterable) or hasattr(runs, "columns"):
        kind = type(runs).__name__ if hasattr(runs, "columns") else repr(runs)
        raise ValueError(f"{kind} is no list and no mapping of runs")
    named = list(runs.items()) if isinstance(runs, Mapping) else [("", run) for run in runs]
    if wrong := [name for name, _ in named if not isinstance(name, str)]:
        raise ValueError(f"{wrong[0]!r} is no name of a system: a text is meant")
    if not named:
        raise ValueError("no run")
    judgements = Qrels((), ()) if qrels is None else qrels
    ours = [(name, run) for name, run in named if isinstance(run, Run)]
    only_ours, are_numbered = len(ours) == len(named), all(run.names is None for _, run in ours)
    if only_ours and are_numbered and isinstance(judgements, Qrels) and judgements.names is None:
        kept = tuple(replace(run, name=name or run.name or f"run {place}") for place, (name, run) in enumerate(ours, 1))
        relevant = map(set, map(np.ndarray.tolist, judgements.relevant))
        _warn_of_strangers(kept, dict(zip(judgements.queries, relevant, strict=True)), str)
        return Given(judgements, kept, None)
    graded = _read_grades(judgements)
    read = [_read_scores(run, name) for name, run in named]
    # Where scores are equal, lower numbers come first: `number_names` gives the last name the first number.
    lists: list[Mapping[str, Mapping[str, float]]] = [graded, *(scored for scored, _ in read)]
    names, number = number_names(name for by_query in lists for ranked in by_query.values() for name in ranked)
    numbered = tuple(_run(scored, number, name or f"run {place}") for place, (scored, name) in enumerate(read, 1))
    judged = {query: {number[name]: grade for name, grade in grades.items()} for query, grades in graded.items()}
    _warn_of_strangers(numbered, judged, (names or ()).__getitem__)
    return Given(Qrels.from_dict(judged), numbered, names or (), only_ours)


def read_run(path: str | PathLike[str], name: str | None = None) -> Run:
    """Read a TREC run whose documents have any names; the run's name is its tag by default; see `trec.read_run`."""
    vocabulary: dict[str, int] = {}
    run = trec.read_run(path, name, vocabulary)
    return replace(run, names=tuple(vocabulary))


def read_qrels(path: str | PathLike[str]) -> Qrels:
    """Read TREC qrels whose documents have any names; a grade above 0 means relevant; see `trec.read_qrels`."""
    vocabulary: dict[str, int] = {}
    qrels = trec.read_qrels(path, vocabulary)
    return replace(qrels, names=tuple(vocabulary))


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
    if isinstance(judgements, str | PathLike):
        vocabulary: dict[str, int] = {}
        by_query = trec.read_grades(Path(judgements), vocabulary)
        names = list(vocabulary)
        return {query: {names[place]: grade for place, grade in grades.items()} for query, grades in by_query.items()}
    graded: dict[str, dict[str, int]] = {}
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
    """Warn of runs of which no document is judged for its query; of a `Qrels` only relevant documents are known."""
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
    """Return a run as {query: {document: score}}, best first."""
    return {
        query: {name_of(document, names): score for document, score in zip(*row, strict=True) if document != PADDING}
        for query, *row in zip(run.queries, run.documents.tolist(), run.scores.tolist(), strict=True)
    }


def _run(lists: Mapping[str, Mapping[str, float]], number: Mapping[str, int], name: str) -> Run:
    """Make the run of {query: {document: score}}, best first, with these numbers of documents."""
    numbered = ({number[document]: score for document, score in ranked.items()} for ranked in lists.values())
    return Run(tuple(lists), *pad_lists(numbered), name)


def _lines(table: Any, value: Sequence[str]) -> Iterator[tuple[str, str | None, Any]]:
    """Yield (query, document, grade or score); a mapping's query comes first without a document: it may have none."""
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
    """Return the name of a query, or of a document of this query."""
    if isinstance(value, str):
        return value
    if isinstance(value, Integral) and not isinstance(value, bool):
        return str(int(value))
    if not isinstance(value, Real) or isinstance(value, bool) or not math.isfinite(value):
        raise ValueError(f"query {query!r}: {value!r} is no name (choices: a text, a number)")
    if abs(float(value)) >= _LARGEST_EXACT:
        problem = "a floating-point number that is too large to be exact; read the column as text"
        raise ValueError(f"query {query!r}: the name {value!r} is {problem}")
    return str(int(float(value)) if float(value).is_integer() else value)


def _rows(table: Any, value: Sequence[str]) -> Iterator[tuple[str, str, Any]]:
    """Yield (query, document, value) of each row of a DataFrame."""
    available = list(getattr(table, "columns", ()))
    if not available:
        kinds = "a Run or Qrels, a dictionary, the path of a TREC file, a DataFrame of pandas"
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
