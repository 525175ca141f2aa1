"""Answers of a model to the questions of the graph, one JSON object a line: {"id": question, "prediction": text}.

Trained readers and prompted models write this form; the user's own files (`brought/complexity/predictions`) may have
any form of `answer_files.py`.
"""

import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from trivium.core.tables import write_json_lines
from trivium.formats.answer_files import read_answers

_SHOWN = 5


@dataclass(frozen=True)
class Predictions:
    """What a model answered to the questions asked for.

    Attributes:
        answers: an answer a question, in the order of the questions; "" where it is missing (it scores 0).
        missing: questions without an answer.
        unknown: lines about a question that was not asked for; left out.
        empty: lines about a question asked for whose answer is empty or white space (they score 0).
    """

    answers: dict[str, str]
    missing: int
    unknown: int
    empty: int


def read_predictions(path: Path, ids: Sequence[str]) -> Predictions:
    """Read a model's answers to these questions; see `read_answers`."""
    read = read_answers(path, ids)
    if read.unknown:
        shown = ", ".join(map(reprlib.repr, read.unknown[:_SHOWN])) + (", …" if len(read.unknown) > _SHOWN else "")
        print(f"{path}: {len(read.unknown)} answers to unknown questions left out: {shown}")
    answers = {identifier: read.answers.get(identifier, "") for identifier in ids}
    missing = sum(identifier not in read.answers for identifier in answers)
    empty = sum(not answer.strip() for answer in answers.values()) - missing
    return Predictions(answers, missing=missing, unknown=len(read.unknown), empty=empty)


def write_predictions(path: Path, answers: Mapping[str, str]) -> None:
    """Write a model's answers by question id, in the order of the mapping."""
    write_json_lines(path, ({"id": identifier, "prediction": answer} for identifier, answer in answers.items()))
