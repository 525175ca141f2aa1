"""TREC files: runs and qrels, read as trec_eval reads them; every writer is atomic.

Only spaces and tabs separate columns: an identifier may hold a no-break space, and a space too where tabs separate all
columns. trec_eval holds scores in 32 bits, orders each list by them, and documents with equal scores by their names,
the last name first; it ignores ranks and the order of lines. Runs written here have no equal scores, so that every
reader finds the same order.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from os import PathLike
from pathlib import Path

import numpy as np

from trivium.core.atomic import write_atomically
from trivium.core.errors import BadInput
from trivium.core.reading import finite_number, read_lines, whole_number
from trivium.formats.json_fields import Field
from trivium.measures.reorder import untie
from trivium.measures.runs import PADDING, Qrels, Run, name_of, pad_lists

_ENDS_A_COLUMN = frozenset(" \t\r\n")
_LARGEST = float(np.finfo(np.float32).max)


def write_run(path: Path, run: Run, names: Sequence[str] | None = None) -> None:
    """Write a TREC run: `query Q0 document rank score tag`.

    Scores are rounded to 32-bit floats that keep the order and differ from each other (`untie`), and written with the
    nine digits that such floats need. The file's stem is the tag of a run without name. `names` are those of the
    documents; without them the numbers are written. A name that is empty or has white space is `ValueError`.
    """
    _refuse_folder(path)
    for name in (*run.queries, *(names or ())):
        if not name or not _ENDS_A_COLUMN.isdisjoint(name):
            raise ValueError(f"run {run.name!r}: the name {name!r} is empty or has white space, which ends a column")
    with write_atomically(path) as target, target.open("w", encoding="utf-8") as out:
        for query, documents, scores in zip(run.queries, run.documents, untie(run.scores), strict=True):
            kept = documents[documents != PADDING].tolist()
            for rank, (document, score) in enumerate(zip(kept, scores.tolist(), strict=False), 1):
                label = document if names is None else names[document]
                out.write(f"{query} Q0 {label} {rank} {score:.9g} {run.name or path.stem}\n")


def read_run(path: str | PathLike[str], name: str | None = None, vocabulary: dict[str, int] | None = None) -> Run:
    """Read a TREC run, with scores and order as trec_eval has them.

    The file has six columns, and text after the tag, the run's name by default, is ignored. `vocabulary` has numbers of
    documents by name, and is extended as needed; without it the names must be whole numbers.

    Raises:
        BadInput: too few columns, a rank that is not a whole number, a document that is not a number, a score that is
            not finite in 32 bits, a second record in a line, a document twice for one query, or no line at all.
    """
    path = Path(path)
    retrieved_by: dict[str, dict[int, tuple[float, str]]] = defaultdict(dict)
    tag = ""
    for row, columns in _columns(path, 6):
        if len(columns) < 6:
            raise BadInput("wrong number of columns", file=path, row=row, got=len(columns), expected="6 (TREC run)")
        query, _, label, rank, score_text, tag = columns[:6]
        if not _parses(whole_number, rank):
            expected = "a whole number; spaces and tabs separate columns"
            Field(rank, path, row, "rank").refuse("not a rank", expected=expected)
        document = _document(label, vocabulary, path, row)
        if not _parses(finite_number, score_text):
            Field(score_text, path, row, "score").refuse("not a score", expected="a finite number")
        if abs(score := float(score_text)) > _LARGEST:
            Field(score_text, path, row, "score").refuse("not finite as a 32-bit float")
        if len(columns) > 6 and _parses(finite_number, tag):  # "Soyuz 11" is a document of one column too many
            expected = "six columns: has an identifier a space in it?"
            Field(tag, path, row, "tag").refuse("a number in place of the tag", expected=expected)
        if any(_is_record(columns[place:], columns[1]) for place in range(6, len(columns) - 3)):
            raise BadInput("a second record in the line", file=path, row=row, got=" ".join(columns[5:]))
        if document in retrieved_by[query]:
            Field(label, path, row, "document").refuse("document twice for one query")
        retrieved_by[query][document] = score, label
    if not retrieved_by:
        raise BadInput("empty run", file=path, expected="at least one retrieved document")
    lists: list[dict[int, float]] = []
    for retrieved in retrieved_by.values():
        single = np.array([score for score, _ in retrieved.values()], dtype=np.float32).tolist()
        labels = [label for _, label in retrieved.values()]
        ranked = sorted(zip(single, labels, retrieved, strict=True), reverse=True)
        lists.append({document: score for score, _, document in ranked})
    return Run(tuple(retrieved_by), *pad_lists(lists), name or tag)


def _columns(path: Path, count: int) -> Iterator[tuple[int, list[str]]]:
    """Yield (row from 1, columns) of each line; blank lines may stand only at the end.

    A line that has `count` columns by its tabs is split at tabs alone, and spaces around a column are removed.
    """
    blank = 0
    for row, line in read_lines(path):
        text = line.removeprefix("\ufeff").removesuffix("\n").removesuffix("\r")  # joined files have a mark inside
        if "\r" in text:
            raise BadInput("a carriage return within the line", file=path, row=row, expected="a record a line")
        columns = [column for cell in text.split("\t") if (column := cell.strip(" "))]
        if len(columns) < count:
            columns = [column for column in text.replace("\t", " ").split(" ") if column]
        if columns and blank:
            raise BadInput("a blank line between records", file=path, row=blank)
        if columns:
            yield row, columns
        else:
            blank = blank or row


def _parses(parse: Callable[[str], float], text: str) -> bool:
    """Whether a text is a number by `parse`, a function that raises `ValueError` where it is not."""
    try:
        parse(text)
    except ValueError:
        return False
    return True


def _is_record(columns: Sequence[str], second: str) -> bool:
    """Whether text after a tag continues as `Q0 document rank score`: the line break before it is missing."""
    return (
        columns[0] in ("Q0", "q0", "0", second)
        and _parses(whole_number, columns[2])
        and _parses(finite_number, columns[3])
    )


def read_run_over(path: Path, queries: Sequence[str]) -> Run:
    """Read a TREC run over exactly these queries, of which the file may lack some: they get an empty list."""
    run = read_run(path)
    try:
        return run.complete(queries)
    except ValueError as error:
        raise BadInput(f"the run is not about these questions: {error}", file=path) from None


def _document(label: str, vocabulary: dict[str, int] | None, path: Path, row: int) -> int:
    if vocabulary is not None:
        return vocabulary.setdefault(label, len(vocabulary))
    if not _parses(whole_number, label) or int(label) < 0:
        expected = "a whole number from 0 of at most 64 bits"
        Field(label, path, row, "document").refuse("not a document number", expected=expected)
    return int(label)


def _refuse_folder(path: Path) -> None:
    if path.is_dir():  # writing would replace the whole folder
        raise BadInput("not a file's path", file=path, got="a folder", expected="the path of a file")


def write_qrels(path: str | PathLike[str], qrels: Qrels) -> None:
    """Write TREC qrels `query 0 document grade`; a query without relevant documents gets a line `query 0 -1 0`."""
    if not isinstance(qrels, Qrels):
        raise ValueError(f"{type(qrels).__name__} is no Qrels (`Qrels.from_dict` makes one)")
    _refuse_folder(Path(path))
    with write_atomically(Path(path)) as target, target.open("w", encoding="utf-8") as out:
        for query, documents, grades in zip(qrels.queries, qrels.relevant, qrels.grades, strict=True):
            for document, grade in zip(documents.tolist(), grades.tolist(), strict=True):
                out.write(f"{query} 0 {name_of(document, qrels.names)} {grade}\n")
            if not len(documents):
                out.write(f"{query} 0 -1 0\n")


def read_qrels(path: str | PathLike[str], vocabulary: dict[str, int] | None = None) -> Qrels:
    """Read TREC qrels (query, iteration, document, grade), in which a grade above 0 means relevant, in their order.

    `vocabulary` is as for `read_run`; documents that are not relevant get a number, too. A grade that is no whole
    number, and a document that is judged twice for a query, are `BadInput`.
    """
    return Qrels.from_dict(read_grades(Path(path), vocabulary))


def read_grades(path: Path, vocabulary: dict[str, int] | None) -> dict[str, dict[int, int]]:
    """Read TREC qrels, as `read_qrels`, to {query: {document: grade}}; without vocabulary relevant documents only."""
    graded: dict[str, dict[int, int]] = {}
    judged: dict[str, set[str]] = defaultdict(set)
    for row, columns in _columns(path, 4):
        if len(columns) != 4:
            raise BadInput("wrong number of columns", file=path, row=row, got=len(columns), expected="4 (TREC qrels)")
        query, _, label, grade = columns
        if not _parses(whole_number, grade):
            Field(grade, path, row, "grade").refuse("not a grade", expected="a whole number of at most 64 bits")
        # Where documents are numbers, 05 is 5.
        name = str(int(label)) if vocabulary is None and _parses(whole_number, label) else label
        if name in judged[query]:
            Field(label, path, row, "document").refuse("document judged twice for one query")
        judged[query].add(name)
        grades = graded.setdefault(query, {})
        if int(grade) > 0 or vocabulary is not None:
            grades[_document(label, vocabulary, path, row)] = int(grade)
    return graded
