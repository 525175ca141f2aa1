"""Label Studio's export in the format "JSON": tasks with their annotations, of any labelling interface."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trivium.core.errors import BadInput
from trivium.core.tables import read_json
from trivium.formats.json_fields import Field


@dataclass(frozen=True)
class ExportedAnnotation:
    """One annotator's finished work on one task."""

    number: int  # Label Studio's own, which increases with time
    annotator: str  # the user's e-mail address if the export has it, else the user's number
    controls: Mapping[str, tuple[str, ...]]  # values of each control of the interface that was used, by its name
    field: str  # its place in the task, for messages


@dataclass(frozen=True)
class ExportedTask:
    """A task, counted from 1, its finished annotations, and how many were cancelled (skipped by their annotator)."""

    row: int
    data: Mapping[str, Any]
    annotations: tuple[ExportedAnnotation, ...]
    cancelled: int


def read_export(path: Path, values: Mapping[str, str], *, others: bool = False) -> list[ExportedTask]:
    """Read an export, in which nobody may annotate a task twice; messages name the task (from 1) and the field.

    `values` has the controls of the labelling interface, each with the key of its result (`choices`, `text`); `others`
    says whether other controls are ignored, else they are refused.
    """
    tasks = read_json(path)
    if not isinstance(tasks, list):
        raise BadInput("not a list of tasks", file=path, got=tasks, expected="a Label Studio export in format JSON")
    return [_task(Field(task, path, row), values, others) for row, task in enumerate(tasks, 1)]


def _task(task: Field, values: Mapping[str, str], others: bool) -> ExportedTask:
    data, finished, cancelled = task["data"], dict[str, ExportedAnnotation](), 0
    if not isinstance(data.value, dict):
        data.refuse("not an object")
    for annotation in task["annotations"].items():
        if annotation.get_or("was_cancelled", False).value:
            cancelled += 1
            continue
        made = _annotation(annotation, values, others)
        if (first := finished.setdefault(made.annotator, made)) is not made:
            problem = f"annotator {made.annotator!r} annotated this task twice, first in {first.field}"
            annotation["completed_by"].refuse(problem, got=made.annotator)
    assert isinstance(task.row, int)
    return ExportedTask(task.row, data.value, tuple(finished.values()), cancelled)


def _annotation(annotation: Field, values: Mapping[str, str], others: bool) -> ExportedAnnotation:
    controls: dict[str, tuple[str, ...]] = {}
    for part in annotation["result"].items():
        control = part.get("from_name")
        if control is None or not isinstance(control.value, str) or control.value not in values:
            if not others:
                problem = "not a control of this labelling interface; an export of another project?"
                (control or part).refuse(problem, choices=values)
            continue
        result = part["value"][values[control.value]]
        texts = (result.value,) if isinstance(result.value, str) else result.texts()  # a text area gives either
        controls[control.value] = (*controls.get(control.value, ()), *texts)
    annotator = _annotator(annotation["completed_by"])
    return ExportedAnnotation(annotation["id"].integer(), annotator, controls, annotation.name)


def _annotator(field: Field) -> str:
    """Return a user's address or number; Label Studio gives the number, or the user with both."""
    value = field.value
    if isinstance(value, dict):
        value = value.get("email") or value.get("id")
    if not isinstance(value, int | str) or isinstance(value, bool) or value == "":
        field.refuse("not an annotator", got=value, expected="a user's number, or an object with email or id")
    return str(value)
