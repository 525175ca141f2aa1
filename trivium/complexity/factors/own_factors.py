"""Factors of your own: columns of a CSV file, Python functions, and further members by name (docs/difficulty.md)."""

import re
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from trivium.complexity.factors.free_factors import LABELS, FreeFactors, ReadText, cut_column
from trivium.complexity.factors.question_members import MEMBERS, Column, Value
from trivium.core.errors import BadInput
from trivium.core.tables import read_csv_records
from trivium.formats.question_sets import AskedQuestion
from trivium.language.reading.language import Language

FactorSource = str | Path | Callable[[AskedQuestion], Any]
_FUNCTION = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")
_YES_NO = {"yes": True, "true": True, "no": False, "false": False}


def add_factors(
    factors: FreeFactors,
    sources: Sequence[FactorSource],
    questions: Sequence[AskedQuestion],
    texts: Mapping[str, ReadText],
    language: Language,
    ids: Sequence[str],
    note: Callable[[str], None],
) -> None:
    """Add the factors of these sources; a number is cut as the paper's are, more of it is yes.

    Args:
        factors: of the questions, which get more.
        sources: names of `MEMBERS`, files of CSV (`id`, and columns of yes/no or numbers), functions or
            `module:function` (which gives True, False, a number or None for a question).
        questions: that are analysed.
        texts: their contexts, read.
        language: of the set.
        ids: of all questions of the set, with those that are not analysed.
        note: told which questions a file does not name, and which of its ids the set does not have.

    Raises:
        BadInput: a name that is taken, a file whose ids are not the set's, a cell or value of another kind, a module or
            function that is not there.
    """
    for source in sources:
        if callable(source) or _FUNCTION.fullmatch(str(source)):
            columns = _of_function(source if callable(source) else _load(str(source)), questions)
        elif str(source) in MEMBERS:
            columns = MEMBERS[str(source)](questions, texts, language)
        elif isinstance(source, str) and not Path(source).exists() and not Path(source).suffix:
            raise BadInput("no such factors", field="factors", got=source, expected="a file of CSV, module:function",
                           choices=MEMBERS)  # fmt: skip
        else:
            columns = _of_file(Path(source), questions, ids, note)
        for name, column in columns.items():
            if name in factors.codes or name in factors.properties or name in LABELS:
                raise BadInput("a factor or property of this name is there already", field="factors", got=name)
            if not cut_column(factors, name, column.label, column.values):
                note(f"{name} says the same of all questions, and is left out of the factors.")


def _load(name: str) -> Callable[[AskedQuestion], Any]:
    module, _, function = name.partition(":")
    try:
        imported = import_module(module)
    except ModuleNotFoundError as error:
        if error.name not in (module, module.partition(".")[0]):
            raise
        expected = "module:function, in this folder or installed"
        raise BadInput("no such module", field="factors", got=name, expected=expected) from None
    loaded = getattr(imported, function, None)
    if not callable(loaded):
        choices = [key for key, value in vars(imported).items() if callable(value) and key[0] != "_"]
        raise BadInput("no such function in the module", field="factors", got=name, choices=choices)
    return loaded


def _of_function(function: Callable[[AskedQuestion], Any], questions: Sequence[AskedQuestion]) -> dict[str, Column]:
    """One column, called as the function is, labelled by the first line of its docstring."""
    name = getattr(function, "__name__", type(function).__name__)
    label = next(iter((function.__doc__ or "").strip().splitlines()), "").rstrip(".") or name.replace("_", " ")
    values: list[Value] = []
    for question in questions:
        value = function(question)
        if isinstance(value, np.generic):
            value = value.item()
        if value is not None and (not isinstance(value, bool | int | float) or not np.isfinite(value)):
            raise BadInput(f"what the function {name} gives for the question {question.id!r}", field="factors",
                           got=value, expected="True, False, a number or None")  # fmt: skip
        values.append(value if isinstance(value, bool) or value is None else float(value))
    if len({isinstance(value, bool) for value in values if value is not None}) > 1:
        raise BadInput(f"the function {name} gives both yes/no and numbers", field="factors", got=name)
    return {name: Column(label, values)}


def _of_file(
    path: Path, questions: Sequence[AskedQuestion], ids: Sequence[str], note: Callable[[str], None]
) -> dict[str, Column]:
    """A column of the file is of yes and no, or of numbers; an empty cell is in neither set."""
    cells: dict[str, tuple[int, dict[str, str]]] = {}
    for row, record in read_csv_records(path, ("id",)):
        identifier = record.pop("id").strip()
        if identifier in cells:
            raise BadInput("id twice", file=path, row=row, field="id", got=identifier,
                           expected=f"one row a question, the first in row {cells[identifier][0]}")  # fmt: skip
        cells[identifier] = row, record
    strangers = cells.keys() - set(ids)
    if len(strangers) == len(cells):
        shown = ", ".join(map(repr, list(ids)[:3]))
        raise BadInput("no row is of a question of the set", file=path, field="id", got=list(cells)[:3],
                       expected=f"ids such as {shown}")  # fmt: skip
    lacking = sum(question.id not in cells for question in questions)
    if strangers:
        shown = ", ".join(sorted(strangers)[:3])
        note(f"{path.name}: {len(strangers)} rows of questions that the set does not have are left out ({shown} …).")
    if lacking:
        note(f"{path.name}: {lacking} of {len(questions)} questions have no row, and are in neither set.")
    names = next(iter(cells.values()))[1]
    if not names:
        raise BadInput("no columns but the ids", file=path, expected="columns of yes and no, or of numbers")
    columns = {}
    for column in names:
        name = re.sub(r"\W+", "_", column).strip("_") or "factor"  # it names folders, too
        cells_of = {identifier: (row, record[column].strip().lower()) for identifier, (row, record) in cells.items()}
        is_yes_no = any(cell in _YES_NO for _, cell in cells_of.values())
        read = {identifier: _value(cell, path, row, column, is_yes_no) for identifier, (row, cell) in cells_of.items()}
        if name in columns:
            raise BadInput("two columns of one name", file=path, field=column, got=names)
        columns[name] = Column(column.replace("_", " "), [read.get(question.id) for question in questions])
    return columns


def _value(cell: str, path: Path, row: int, field: str, is_yes_no: bool) -> Value:
    if not cell:
        return None
    try:
        value = _YES_NO[cell] if is_yes_no else float(cell)
    except (KeyError, ValueError):
        value = np.nan
    if not np.isfinite(value):
        expected = "yes or no, as in other rows" if is_yes_no else "yes, no, or a number with a decimal point"
        raise BadInput("no value of a factor", file=path, row=row, field=field, got=cell, expected=expected)
    return value
