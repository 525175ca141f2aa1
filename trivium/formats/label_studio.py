"""Label Studio's export in the format "JSON": tasks with their annotations, whatever the project asks for."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trivium.core.errors import BadInput
from trivium.core.tables import read_json


@dataclass(frozen=True)
class ExportedAnnotation:
    """One annotator's finished work on one task.

    Attributes:
        number: Label Studio's own number, which grows with time.
        annotator: the user's address where the export has it, else the user's number.
        controls: for each control of the labelling interface that was used, its values.
        field: where it stands in its task, for messages.
    """

    number: int
    annotator: str
    controls: Mapping[str, tuple[str, ...]]
    field: str


@dataclass(frozen=True)
class ExportedTask:
    """A task, its finished annotations, and how many were cancelled (skipped by their annotator); rows from 1."""

    row: int
    data: Mapping[str, Any]
    annotations: tuple[ExportedAnnotation, ...]
    cancelled: int


def read_export(path: Path, values: Mapping[str, str], *, others: bool = False) -> list[ExportedTask]:
    """Read an export.

    Args:
        path: what Label Studio exports as "JSON".
        values: the controls of the labelling interface, and under which key the result of each lies (`choices`,
            `text`).
        others: whether there may be further controls, which are passed over; else they are refused.

    Raises:
        BadInput: names the task (counted from 1) and the field; also for a control that may not be there, and for an
            annotator who annotated a task twice.
    """
    tasks = read_json(path)
    if not isinstance(tasks, list):
        raise BadInput("not a list of tasks", file=path, got=tasks, expected="a Label Studio export in format JSON")
    return [_task(task, values, others, path, row) for row, task in enumerate(tasks, 1)]


def _task(task: Any, values: Mapping[str, str], others: bool, path: Path, row: int) -> ExportedTask:
    if not isinstance(task, dict):
        raise BadInput("not a task", file=path, row=row, got=task, expected="an object")
    data, annotations = task.get("data"), task.get("annotations")
    if not isinstance(data, dict):
        raise BadInput("missing or not an object", file=path, row=row, field="data", got=data)
    if not isinstance(annotations, list):
        raise BadInput("missing or not a list", file=path, row=row, field="annotations", got=annotations)
    finished: dict[str, ExportedAnnotation] = {}
    cancelled = 0
    for number, annotation in enumerate(annotations):
        field = f"annotations.{number}"
        if not isinstance(annotation, dict):
            raise BadInput("not an annotation", file=path, row=row, field=field, got=annotation)
        if annotation.get("was_cancelled"):
            cancelled += 1
            continue
        made = _annotation(annotation, values, others, path, row, field)
        if made.annotator in finished:
            first = finished[made.annotator].field
            problem = f"annotator {made.annotator!r} annotated this task twice, first in {first}"
            raise BadInput(problem, file=path, row=row, field=f"{field}.completed_by", got=made.annotator)
        finished[made.annotator] = made
    return ExportedTask(row, data, tuple(finished.values()), cancelled)


def _annotation(
    annotation: Mapping[str, Any], values: Mapping[str, str], others: bool, path: Path, row: int, field: str
) -> ExportedAnnotation:
    number, result = annotation.get("id"), annotation.get("result")
    if not isinstance(number, int) or isinstance(number, bool):
        raise BadInput("not a number", file=path, row=row, field=f"{field}.id", got=number)
    if not isinstance(result, list):
        raise BadInput("missing or not a list", file=path, row=row, field=f"{field}.result", got=result)
    controls: dict[str, tuple[str, ...]] = {}
    for place, part in enumerate(result):
        where = f"{field}.result.{place}"
        control = part.get("from_name") if isinstance(part, dict) else None
        if not isinstance(control, str) or control not in values:
            if others:
                continue
            problem = "not a control of this labelling interface; an export of another project?"
            raise BadInput(problem, file=path, row=row, field=f"{where}.from_name", got=control, choices=values)
        found = _texts(part.get("value"), values[control], path, row, f"{where}.value")
        controls[control] = (*controls.get(control, ()), *found)
    annotator = _annotator(annotation.get("completed_by"), path, row, f"{field}.completed_by")
    return ExportedAnnotation(number, annotator, controls, field)


def _texts(value: Any, key: str, path: Path, row: int, field: str) -> tuple[str, ...]:
    texts = value.get(key) if isinstance(value, dict) else None
    texts = [texts] if isinstance(texts, str) else texts  # a text area gives a text, or a list of them
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise BadInput("not a list of texts", file=path, row=row, field=f"{field}.{key}", got=texts)
    return tuple(texts)


def _annotator(value: Any, path: Path, row: int, field: str) -> str:
    """Label Studio gives a user's number, or the user with number and address."""
    if isinstance(value, dict):
        value = value.get("email") or value.get("id")
    if not isinstance(value, int | str) or isinstance(value, bool) or value == "":
        raise BadInput("no annotator", file=path, row=row, field=field, got=value)
    return str(value)
