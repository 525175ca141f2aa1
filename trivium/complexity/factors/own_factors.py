"""Further factors of question sets: columns of a CSV file, Python functions, and members by name (docs/difficulty.md).

Each adds a test for every model, and Holm's correction then costs the others power: so none is computed by default.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from pkgutil import resolve_name
from traceback import extract_tb
from typing import Any, NamedTuple

import numpy as np

from trivium.complexity.factors.free_factors import LABELS, FreeFactors, ReadText, cut_column
from trivium.core.errors import BadInput
from trivium.core.parameters import read_beside
from trivium.core.tables import read_csv_records
from trivium.formats.question_sets import AskedQuestion
from trivium.language.languages import Language

Texts = Mapping[str, ReadText]
Value = bool | float | None  # a number is cut where it splits the set most evenly; None: in neither set


class Column(NamedTuple):
    """A factor's values on a set's questions, in their order, with the meaning of yes, or of more, in words."""

    label: str
    values: list[Value]


_ASKS = {
    "who": "asks who", "when": "asks when", "where": "asks where", "why": "asks why", "how": "asks how",
    "how_many": "asks how many, how much or how long",
}  # fmt: skip
_WORDS: dict[str, dict[str, str]] = read_beside(__file__, "question_words.yaml")


def _words_of(language: Language, member: str) -> Mapping[str, str]:
    if language.code not in _WORDS:
        raise BadInput("no words are known for this language", field=f"factors: {member}", got=language.code,
                       choices=_WORDS)  # fmt: skip
    return _WORDS[language.code]


def _question_word(questions: Sequence[AskedQuestion], texts: Texts, language: Language) -> dict[str, Column]:
    """Factors of the first question word; of two that begin at the same word, of the phrase."""
    table = _words_of(language, "question_word")
    kind_of = {
        phrase.replace("_", " "): kind
        for kind, phrases in table.items()
        if kind != "negation"
        for phrase in phrases.split()
    }
    kinds: list[str | None] = []
    for question in questions:
        words = language.words(question.question)
        starts = (phrase for pair in zip(words, [*words[1:], ""], strict=True) for phrase in (" ".join(pair), pair[0]))
        kinds.append(next((kind_of[phrase] for phrase in starts if phrase in kind_of), None))
    return {f"asks_{kind}": Column(label, [None if of is None else of == kind for of in kinds])
            for kind, label in _ASKS.items()}  # fmt: skip


def _answer_type(questions: Sequence[AskedQuestion], texts: Texts, language: Language) -> dict[str, Column]:
    """A number where the first answer has a digit; else a name where all of its content words begin with capitals."""
    number: list[Value] = [any(map(str.isdigit, question.answers[0])) for question in questions]
    name: list[Value] = []
    for question, has_digit in zip(questions, number, strict=True):
        answer = question.answers[0]
        content = [re.findall(r"\w+", word.span.of(answer)) for word in language.in_place(answer) if word.stems]
        capitals = [any(part[0].isupper() for part in word) for word in content]  # "l'Yser" is one word
        name.append(not has_digit and bool(capitals) and all(capitals))
    return {"number_answer": Column("answer with a number", number), "name_answer": Column("answer is a name", name)}


def _negation(questions: Sequence[AskedQuestion], texts: Texts, language: Language) -> dict[str, Column]:
    """A negating word in the question; in English also a verb with n't."""
    negating = set(_words_of(language, "negation")["negation"].split())
    values: list[Value] = []
    for question in questions:
        words = language.words(question.question)
        contracted = any(one[-1] == "n" and two == "t" for one, two in pairwise(words))
        values.append(not negating.isdisjoint(words) or contracted)
    return {"negated": Column("a negation in the question", values)}


def _word_rarity(questions: Sequence[AskedQuestion], texts: Texts, language: Language) -> dict[str, Column]:
    """Mean over the question's content stems of log2((n + 1) / (n_stem + 1)), n texts, n_stem of them with the stem."""
    counts = Counter(stem for text in texts.values() for stem in frozenset().union(*text.stems))
    values: list[Value] = []
    for question in questions:
        bits = [np.log2((len(texts) + 1) / (counts[stem] + 1)) for stem in language.content_stems(question.question)]
        values.append(float(np.mean(bits)) if bits else None)
    return {"rare_words": Column("words of the question rarer in the texts than in half of the set", values)}


MEMBERS: dict[str, Callable[[Sequence[AskedQuestion], Texts, Language], dict[str, Column]]] = {
    "question_word": _question_word,
    "answer_type": _answer_type,
    "negation": _negation,
    "word_rarity": _word_rarity,
}

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
        sources: names of `MEMBERS`, files of CSV (`id`, and columns of yes/no or numbers), functions or
            `module:function` (which gives True, False, a number or None for a question).
        ids: of all questions of the set, with those that are not analysed.
        note: told which questions a file does not name or leaves empty, and which of its ids the set does not have.

    Raises:
        BadInput: a name that is taken, a file whose ids are not the set's, a cell or value of another kind, a module or
            function that is not there, a function that fails.
    """
    for source in sources:
        if callable(source) or _FUNCTION.fullmatch(str(source)):
            columns = _of_function(source, questions)
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


def _of_function(source: FactorSource, questions: Sequence[AskedQuestion]) -> dict[str, Column]:
    """One column, called as the function is, labelled by the first line of its docstring."""
    try:
        function: Any = source if callable(source) else resolve_name(str(source))
    except (ImportError, AttributeError) as error:
        expected = "module:function, in this folder or installed"
        raise BadInput(f"no such function: {error}", field="factors", got=source, expected=expected) from error
    if not callable(function):
        raise BadInput("no function", field="factors", got=source, expected="module:function")
    name = getattr(function, "__name__", type(function).__name__)
    label = next(iter((function.__doc__ or "").strip().splitlines()), "").rstrip(".") or name.replace("_", " ")
    values: list[Value] = []
    for question in questions:
        try:
            value = function(question)
        except Exception as error:
            line = extract_tb(error.__traceback__, 2)[-1]  # of the function
            problem = f"the function {name} fails for the question {question.id!r}: {type(error).__name__}: {error}"
            raise BadInput(problem, file=line.filename, row=line.lineno, field="factors") from error
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
    strangers = sorted(cells.keys() - set(ids))
    if len(strangers) == len(cells):
        raise BadInput("no row is of a question of the set", file=path, field="id", got=list(cells)[:3],
                       expected=f"ids such as {', '.join(map(repr, ids[:3]))}")  # fmt: skip
    if strangers:
        note(f"{path.name}: rows of questions that the set does not have are left out: {len(strangers)}, the first "
             f"{strangers[0]!r}.")  # fmt: skip
    columns: dict[str, Column] = {}
    for column in next(iter(cells.values()))[1]:
        name = re.sub(r"\W+", "_", column).strip("_") or "factor"  # it names folders, too
        cells_of = {identifier: (row, record[column].strip().lower()) for identifier, (row, record) in cells.items()}
        is_yes_no = any(cell in _YES_NO for _, cell in cells_of.values())
        read = {identifier: _value(cell, path, row, column, is_yes_no) for identifier, (row, cell) in cells_of.items()}
        if name in columns:
            raise BadInput("two columns of one name", file=path, field=column, got=name)
        columns[name] = Column(column.replace("_", " "), [read.get(question.id) for question in questions])
        if lacking := columns[name].values.count(None):
            note(f"{path.name}: {lacking} of {len(questions)} questions have no {column}, and are in neither set.")
    if not columns:
        raise BadInput("no columns but the ids", file=path, expected="columns of yes and no, or of numbers")
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
