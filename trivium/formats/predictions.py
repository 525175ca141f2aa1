"""Answers of a model, one JSON object a line: {"id": question, "prediction": text}.

Trained readers, prompted models and the user's own files (`brought/complexity/predictions`) all come in this format.
"""

import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from trivium.core.errors import BadInput
from trivium.core.tables import read_json_lines, write_json_lines

_SHOWN = 5


@dataclass(frozen=True)
class Predictions:
    """What a model answered to the questions asked for.

    Attributes:
        answers: an answer a question, in the order of the questions; "" where it is missing (it scores 0).
        missing: questions without a line.
        unknown: lines about a question that was not asked for; left out.
        empty: lines about a question asked for whose answer is empty or white space (they score 0).
    """

    answers: dict[str, str]
    missing: int
    unknown: int
    empty: int


def read_predictions(path: Path, ids: Sequence[str]) -> Predictions:
    """Read a model's answers to these questions; further fields of a line are ignored.

    Raises:
        BadInput: a field is missing or no text, an id stands twice, or no line is about any of the questions.
    """
    given: dict[str, str] = {}
    first_row: dict[str, int] = {}
    for row, record in read_json_lines(path):
        identifier, prediction = (_text(record, field, path, row) for field in ("id", "prediction"))
        if identifier in given:
            raise BadInput(
                f"second answer to one question, the first in row {first_row[identifier]}",
                file=path,
                row=row,
                field="id",
                got=identifier,
            )
        given[identifier], first_row[identifier] = prediction, row
    asked = set(ids)
    unknown = [identifier for identifier in given if identifier not in asked]
    if len(unknown) == len(given):
        raise BadInput(
            "no answer to any of the questions",
            file=path,
            field="id",
            got=unknown[:_SHOWN],
            expected=f"ids such as {', '.join(map(repr, ids[:_SHOWN]))}",
        )
    if unknown:
        shown = ", ".join(map(reprlib.repr, unknown[:_SHOWN])) + (", …" if len(unknown) > _SHOWN else "")
        print(f"{path}: {len(unknown)} answers to unknown questions left out: {shown}")
    answers = {identifier: given.get(identifier, "") for identifier in ids}
    missing = sum(identifier not in given for identifier in answers)
    empty = sum(not answer.strip() for answer in answers.values()) - missing
    return Predictions(answers, missing=missing, unknown=len(unknown), empty=empty)


def write_predictions(path: Path, answers: Mapping[str, str]) -> None:
    """Write a model's answers by question id, in the order of the mapping."""
    write_json_lines(path, ({"id": identifier, "prediction": answer} for identifier, answer in answers.items()))


def _text(record: Mapping[str, object], field: str, path: Path, row: int) -> str:
    if field not in record:
        raise BadInput("missing", file=path, row=row, field=field, choices=record)
    value = record[field]
    if not isinstance(value, str) or (field == "id" and not value):
        raise BadInput("not a text", file=path, row=row, field=field, got=value, expected="a text")
    return value
