"""TREC files: runs and qrels, as trec_eval reads them; every writer is atomic.

trec_eval holds scores in 32 bits, orders each list by them and equal ones by the documents' names, last name first;
it ignores ranks and the order of the lines. What is written here has no equal scores: every reader finds one order.
"""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from trivium.core.atomic import write_atomically
from trivium.core.errors import BadInput
from trivium.core.reading import finite_number, read_lines, whole_number
from trivium.measures.reorder import untie
from trivium.measures.runs import PADDING, Qrels, Run

_LARGEST = float(np.finfo(np.float32).max)


def write_run(path: Path, run: Run) -> None:
    """Write a TREC run: `query Q0 document rank score tag`.

    Scores are rounded to 32-bit floats that keep the order and stay apart (`untie`), with the nine digits that these
    need.

    Raises:
        ValueError: a score is not finite as a 32-bit float.
    """
    tag = run.name or path.stem
    with write_atomically(path) as beside, beside.open("w", encoding="utf-8") as out:
        for query, documents, scores in zip(run.queries, run.documents, untie(run.scores), strict=True):
            for rank, (document, score) in enumerate(zip(documents.tolist(), scores.tolist(), strict=True), 1):
                if document < 0:
                    break
                out.write(f"{query} Q0 {document} {rank} {score:.9g} {tag}\n")


def read_run(path: Path, name: str | None = None, vocabulary: dict[str, int] | None = None) -> Run:
    """Read a TREC run, with scores and order as trec_eval has them.

    Args:
        path: six columns a line; what follows them is ignored.
        name: the run's name; its tag by default.
        vocabulary: numbers of string documents, extended as needed; without it documents must be integers.

    Raises:
        BadInput: no such file, not UTF-8, too few columns, a document that is not a number, a score that is not a
            finite number in 32 bits, a document twice for one query, or no line at all.
    """
    found: dict[str, dict[int, tuple[float, str]]] = defaultdict(dict)
    tag = ""
    for row, line in read_lines(path):
        columns = line.split()
        if len(columns) < 6:
            raise BadInput("wrong number of columns", file=path, row=row, got=len(columns), expected="6 (TREC run)")
        query, _, label, _, score_text, tag = columns[:6]
        document = _document(label, vocabulary, path, row)
        try:
            score = finite_number(score_text)
        except ValueError:
            raise BadInput(
                "not a score", file=path, row=row, field="score", got=score_text, expected="a finite number"
            ) from None
        if abs(score) > _LARGEST:
            raise BadInput("not finite as a 32-bit float", file=path, row=row, field="score", got=score_text)
        if document in found[query]:
            raise BadInput("document twice for one query", file=path, row=row, field="document", got=label)
        found[query][document] = score, label
    if not found:
        raise BadInput("empty run", file=path, expected="at least one retrieved document")
    shape = len(found), max(map(len, found.values()))
    documents, scores = np.full(shape, PADDING, dtype=np.int64), np.full(shape, np.nan)
    for place, retrieved in enumerate(found.values()):
        single = np.array([score for score, _ in retrieved.values()], dtype=np.float32).tolist()
        labels = [label for _, label in retrieved.values()]
        ranked = sorted(zip(single, labels, retrieved, strict=True), reverse=True)
        documents[place, : len(ranked)] = [document for _, _, document in ranked]
        scores[place, : len(ranked)] = [score for score, _, _ in ranked]
    return Run(tuple(found), documents, scores, name or tag)


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
