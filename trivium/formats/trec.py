"""TREC files: runs and qrels; every writer is atomic."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from trivium.errors import BadInput
from trivium.files.atomic import write_atomically
from trivium.files.reading import finite_number, read_lines, whole_number
from trivium.measures.runs import Qrels, Run


def write_run(path: Path, run: Run) -> None:
    """Write a TREC run: `query Q0 document rank score tag`; scores keep all 17 significant digits."""
    tag = run.name or path.stem
    with write_atomically(path) as beside, beside.open("w", encoding="utf-8") as out:
        for query, documents, scores in zip(run.queries, run.documents, run.scores, strict=True):
            for rank, (document, score) in enumerate(zip(documents.tolist(), scores.tolist(), strict=True), 1):
                if document < 0:
                    break
                out.write(f"{query} Q0 {document} {rank} {score!r} {tag}\n")


def read_run(path: Path, name: str | None = None, vocabulary: dict[str, int] | None = None) -> Run:
    """Read a TREC run; the order within a query is by score, ties by lower document number.

    Args:
        path: six columns a line.
        name: the run's name; its tag by default.
        vocabulary: numbers of string documents, extended as needed; without it documents must be integers.

    Raises:
        BadInput: no such file, not UTF-8, wrong number of columns, a document that is no number, a score that is none
            or not finite, a document twice for one query, or no line at all.
    """
    lists: dict[str, dict[int, float]] = defaultdict(dict)
    tag = ""
    for row, line in read_lines(path):
        columns = line.split()
        if len(columns) != 6:
            raise BadInput("wrong number of columns", file=path, row=row, got=len(columns), expected="6 (TREC run)")
        query, _, label, _, score_text, tag = columns
        document = _document(label, vocabulary, path, row)
        try:
            score = finite_number(score_text)
        except ValueError:
            raise BadInput(
                "not a score", file=path, row=row, field="score", got=score_text, expected="a finite number"
            ) from None
        if document in lists[query]:
            raise BadInput("document twice for one query", file=path, row=row, field="document", got=label)
        lists[query][document] = score
    if not lists:
        raise BadInput("empty run", file=path, expected="at least one retrieved document")
    return Run.from_dict(lists, depth=max(map(len, lists.values())), name=name or tag)


def read_run_over(path: Path, queries: Sequence[str], name: str | None = None) -> Run:
    """Read a TREC run over exactly these queries; one that the file lacks gets an empty list.

    Raises:
        BadInput: as `read_run`, or the file has a query that is not among these.
    """
    try:
        return read_run(path, name).complete(queries)
    except BadInput:
        raise
    except ValueError as error:
        raise BadInput(f"the run is not about these questions: {error}", file=path) from None


def _document(label: str, vocabulary: dict[str, int] | None, path: Path, row: int) -> int:
    if vocabulary is not None:
        return vocabulary.setdefault(label, len(vocabulary))
    try:
        number = whole_number(label)
    except ValueError:
        number = -1
    if number < 0:
        expected = "a whole number from 0 of at most 64 bits"
        raise BadInput("not a document number", file=path, row=row, field="document", got=label, expected=expected)
    return number


def write_qrels(path: Path, qrels: Qrels) -> None:
    """Write TREC qrels `query 0 document 1`; a query without relevant documents gets a line `query 0 -1 0`."""
    with write_atomically(path) as beside, beside.open("w", encoding="utf-8") as out:
        for query, documents in zip(qrels.queries, qrels.relevant, strict=True):
            for document in documents.tolist():
                out.write(f"{query} 0 {document} 1\n")
            if not len(documents):
                out.write(f"{query} 0 -1 0\n")


def read_qrels(path: Path, vocabulary: dict[str, int] | None = None) -> Qrels:
    """Read TREC qrels; grade > 0 is relevant, queries keep their order in the file.

    Raises:
        BadInput: as `read_run`, or a grade that is no whole number.
    """
    lists: dict[str, set[int]] = {}
    for row, line in read_lines(path):
        columns = line.split()
        if len(columns) != 4:
            raise BadInput("wrong number of columns", file=path, row=row, got=len(columns), expected="4 (TREC qrels)")
        query, _, label, grade = columns
        relevant = lists.setdefault(query, set())
        try:
            positive = whole_number(grade) > 0
        except ValueError as error:
            raise BadInput(str(error), file=path, row=row, field="grade", got=grade) from None
        if positive:
            relevant.add(_document(label, vocabulary, path, row))
    return Qrels(tuple(lists), tuple(np.array(sorted(documents), dtype=np.int64) for documents in lists.values()))
