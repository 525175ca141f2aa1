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

from trivium.core.errors import BadInput
from trivium.formats import label_studio as label_studio_export
from trivium.formats.label_studio import ExportedAnnotation

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
    judgements: list[tuple[str, str, str, str, int]] = []
    empty = skipped = 0
    for exported in label_studio_export.read_export(path, {_CONTROL: "choices"}, others=True):
        identifier, code = (_text(exported.data, name, path, exported.row) for name in ("id", "answer_id"))
        skipped += exported.cancelled
        empty += not exported.annotations
        judgements += [
            (identifier, code, each.annotator, _verdict(each, path, exported.row), exported.row)
            for each in exported.annotations
        ]
    return judgements, empty, skipped


def _text(data: Mapping[str, Any], name: str, path: Path, row: int) -> str:
    value = data.get(name)
    if not isinstance(value, str):
        raise BadInput("missing or not a text", file=path, row=row, field=f"data.{name}", got=value)
    return value


def _verdict(annotation: ExportedAnnotation, path: Path, row: int) -> str:
    chosen = list(annotation.controls.get(_CONTROL, ()))
    if len(chosen) != 1 or chosen[0] not in VERDICTS:
        got = chosen[0] if len(chosen) == 1 else chosen
        field = f"{annotation.field}.result"
        raise BadInput("not one verdict", file=path, row=row, field=field, got=got, choices=VERDICTS)
    return chosen[0]
