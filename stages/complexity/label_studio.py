"""Label Studio's formats: tasks and labelling configuration out, a JSON export of judgements in (complexity.md §3).

A task is one distinct answer to one question. Annotators do not see which models gave it: it goes by a code made of the
question's id and the answer. When models are trained again, judgements of answers that no model gives any more no
longer find their code, and are counted as stale instead of being taken for judgements of the new answers.
"""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

from stages.stage import BadInput
from stages.tables import read_json

VERDICTS = ("correct", "partial", "incorrect")
_CONTROL = "verdict"
_INSTRUCTIONS = "Does the answer say what the document says in reply to the question? Judge the content, not the form."


def answer_code(identifier: str, answer: str) -> str:
    """What an answer goes by; the same text given by several models has one code."""
    return hashlib.sha256(f"{identifier}\0{answer}".encode()).hexdigest()[:16]


def task(identifier: str, document: str, question: str, answer: str, reference: str | None) -> dict[str, Any]:
    """One task in Label Studio's import format; without a reference, annotators judge from the document alone."""
    data = {
        "id": identifier,
        "answer_id": answer_code(identifier, answer),
        "document": document,
        "question": question,
        "answer": answer,
    }
    return {"data": data if reference is None else {**data, "reference": reference}}


def labelling_config(*, show_reference: bool) -> str:
    """The labelling interface: document, question, answer, perhaps the reference, and the choice of a verdict.

    Texts reach it as task data, shown by `Text`, which renders no markup.
    """
    shown = [("Document", "document"), ("Question", "question")]
    shown += [("Reference answer", "reference")] if show_reference else []
    shown += [("Answer to judge", "answer")]
    lines = [f"  <Header value={quoteattr(_INSTRUCTIONS)}/>"]
    for title, name in shown:
        lines += [f"  <Header value={quoteattr(title)}/>", f'  <Text name="{name}" value="${name}"/>']
    lines += [f'  <Choices name="{_CONTROL}" toName="answer" choice="single-radio" required="true" showInLine="true">']
    lines += [f'    <Choice value="{verdict}" hotkey="{key}"/>' for key, verdict in enumerate(VERDICTS, 1)]
    return "\n".join(["<View>", *lines, "  </Choices>", "</View>", ""])


def read_export(path: Path) -> tuple[list[tuple[str, str, str, str, int]], int, int]:
    """Read an export in the format "JSON" (a list of tasks with their annotations).

    Returns:
        Judgements (question id, answer code, annotator, verdict, row), how many tasks have none, and how many
        annotations were skipped by their annotator (`was_cancelled`).

    Raises:
        BadInput: names the task (counted from 1) and the field.
    """
    tasks = read_json(path)
    if not isinstance(tasks, list):
        raise BadInput("not a list of tasks", file=path, got=tasks, expected="a Label Studio export in format JSON")
    judgements, empty, skipped = [], 0, 0
    for row, exported in enumerate(tasks, 1):
        if not isinstance(exported, dict):
            raise BadInput("not a task", file=path, row=row, got=exported, expected="an object")
        data, annotations = exported.get("data"), exported.get("annotations")
        if not isinstance(data, dict):
            raise BadInput("missing or not an object", file=path, row=row, field="data", got=data)
        if not isinstance(annotations, list):
            raise BadInput("missing or not a list", file=path, row=row, field="annotations", got=annotations)
        identifier, code = (_text(data, name, path, row) for name in ("id", "answer_id"))
        finished = [each for each in annotations if not (isinstance(each, dict) and each.get("was_cancelled"))]
        skipped += len(annotations) - len(finished)
        empty += not finished
        for number, annotation in enumerate(finished):
            field = f"annotations.{number}"
            if not isinstance(annotation, dict):
                raise BadInput("not an annotation", file=path, row=row, field=field, got=annotation)
            annotator = _annotator(annotation.get("completed_by"), path, row, field)
            judgements.append((identifier, code, annotator, _verdict(annotation.get("result"), path, row, field), row))
    return judgements, empty, skipped


def _text(data: Mapping[str, Any], name: str, path: Path, row: int) -> str:
    value = data.get(name)
    if not isinstance(value, str):
        raise BadInput("missing or not a text", file=path, row=row, field=f"data.{name}", got=value)
    return value


def _annotator(value: Any, path: Path, row: int, field: str) -> str:
    """Label Studio gives a user's number, or the user with number and address."""
    if isinstance(value, dict):
        value = value.get("email") or value.get("id")
    if not isinstance(value, int | str) or isinstance(value, bool) or value == "":
        raise BadInput("no annotator", file=path, row=row, field=f"{field}.completed_by", got=value)
    return str(value)


def _verdict(result: Any, path: Path, row: int, field: str) -> str:
    chosen = [
        choice
        for part in (result if isinstance(result, list) else [])
        if isinstance(part, dict) and part.get("from_name") == _CONTROL and isinstance(part.get("value"), dict)
        for choice in part["value"].get("choices") or []
    ]
    if len(chosen) != 1 or chosen[0] not in VERDICTS:
        got = chosen[0] if len(chosen) == 1 else chosen
        raise BadInput("not one verdict", file=path, row=row, field=f"{field}.result", got=got, choices=VERDICTS)
    return str(chosen[0])
