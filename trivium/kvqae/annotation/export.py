"""Annotators' decisions, from Label Studio's export, and their agreement (kvqae.md §2).

Three decisions: discard the question, change its text, change its image. A discarded question counts as changed in
both.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rapidfuzz.distance import Levenshtein

from trivium.core.errors import BadInput
from trivium.formats.label_studio import ExportedAnnotation, ExportedTask, read_export
from trivium.kvqae.annotation.project import CONTROLS, DECISION, DISCARD_REASONS, IMAGE, KEEP, PROJECT, QUESTION
from trivium.kvqae.construction.generation import GeneratedQuestion
from trivium.measures.agreement import fleiss_kappa

EXPORT, EXPECTED = "export.json", "expected.json"  # of the folder that stage `kvqae-annotations` writes


@dataclass(frozen=True)
class Annotation:
    """One annotator's decision on one question.

    `number` is Label Studio's, which grows with time; `discarded` the reason, or None when the question is kept; `text`
    and `image` as edited and chosen, None when it is discarded.
    """

    number: int
    annotator: str
    discarded: str | None
    text: str | None
    image: str | None


def read_annotations(
    path: Path, questions: Mapping[str, GeneratedQuestion]
) -> tuple[dict[str, list[Annotation]], dict[str, int]]:
    """Read and check an export, Label Studio's "JSON", of these generated questions by id.

    Returns:
        By question that has any, its annotations in the order of their numbers; and counts.

    Raises:
        BadInput: names the task (counted from 1) and the field.
    """
    annotations: dict[str, list[Annotation]] = {}
    rows: dict[str, int] = {}
    counts = dict.fromkeys(("tasks", "annotations", "cancelled_annotations", "unannotated_tasks"), 0)
    for task in read_export(path, CONTROLS):
        question = _question(task, questions, path)
        if question.id in rows:
            problem = f"task twice, first at {rows[question.id]}"
            raise BadInput(problem, file=path, row=task.row, field="data.id", got=question.id)
        rows[question.id] = task.row
        made = [_annotation(annotation, question, path, task.row) for annotation in task.annotations]
        counts["tasks"] += 1
        counts["annotations"] += len(made)
        counts["cancelled_annotations"] += task.cancelled
        counts["unannotated_tasks"] += not made
        if made:
            annotations[question.id] = sorted(made, key=lambda annotation: annotation.number)
    return annotations, counts


def _question(task: ExportedTask, questions: Mapping[str, GeneratedQuestion], path: Path) -> GeneratedQuestion:
    data = task.data
    if data.get("project") != PROJECT:
        got = data.get("project")
        raise BadInput("another project", file=path, row=task.row, field="data.project", got=got, expected=PROJECT)
    if data.get("id") not in questions:
        raise BadInput("unknown question", file=path, row=task.row, field="data.id", got=data.get("id"))
    question = questions[data["id"]]
    images = [image.get("value") if isinstance(image, dict) else image for image in data.get("images") or ()]
    for field, got, expected in (
        ("question", data.get("question"), question.text),
        ("answer", data.get("answer"), question.original_answer),
        ("images", images, list(question.images)),
    ):
        if got != expected:
            problem = "not as it is generated now"
            raise BadInput(problem, file=path, row=task.row, field=f"data.{field}", got=got, expected=repr(expected))
    return question


def _annotation(exported: ExportedAnnotation, question: GeneratedQuestion, path: Path, row: int) -> Annotation:
    def one(control: str, choices: Sequence[str] | None = None) -> str:
        """The value of a control that has to be filled in once."""
        field, values = f"{exported.field}.result.{control}", exported.controls.get(control, ())
        if len(values) != 1 or not values[0].strip():
            empty = not "".join(values).strip()
            problem = f"annotator {exported.annotator!r} left it empty" if empty else "several values"
            raise BadInput(problem, file=path, row=row, field=field, got=list(values))
        if choices is not None and values[0] not in choices:
            raise BadInput("no such choice", file=path, row=row, field=field, got=values[0], choices=choices)
        return values[0]

    decision = one(DECISION, (KEEP, *DISCARD_REASONS))
    if decision != KEEP:
        return Annotation(exported.number, exported.annotator, decision, None, None)
    image = one(IMAGE, question.images)
    return Annotation(exported.number, exported.annotator, None, " ".join(one(QUESTION).split()), image)


DECISIONS = ("discard", "change_question", "change_image")
Annotations = Mapping[str, Sequence[Annotation]]
Questions = Mapping[str, GeneratedQuestion]


def decisions(annotation: Annotation, question: GeneratedQuestion) -> tuple[bool, bool, bool]:
    """Whether the annotator discarded the question, changed its text, changed its image (in order of DECISIONS)."""
    discarded = annotation.discarded is not None
    return (
        discarded,
        discarded or edited_words(annotation, question) > 0,
        discarded or is_other_image(annotation, question),
    )


def edited_words(annotation: Annotation, question: GeneratedQuestion) -> int:
    """Compute the edit distance, in words, between the generated and the annotated question."""
    return Levenshtein.distance(question.text.split(), (annotation.text or "").split())


def is_other_image(annotation: Annotation, question: GeneratedQuestion) -> bool:
    """Whether the annotator took another image than the one that was selected."""
    return annotation.image != question.images[0]


def agreement(annotations: Annotations, questions: Questions, least: int) -> dict[str, float]:
    """Compute Fleiss' κ of each decision over the questions that `least` annotators or more decided on."""
    several = {identifier: made for identifier, made in annotations.items() if len(made) >= least}
    metrics = {"agreement_questions": float(len(several))}
    votes = [[decisions(annotation, questions[name]) for annotation in made] for name, made in several.items()]
    for number, decision in enumerate(DECISIONS):
        yes = np.array([sum(vote[number] for vote in made) for made in votes])
        total = np.array([len(made) for made in votes])
        kappa = fleiss_kappa(np.column_stack([total - yes, yes])) if votes else None
        metrics |= {} if kappa is None else {f"kappa_{decision}": kappa}
    return metrics


def settle(annotations: Sequence[Annotation]) -> Annotation | None:
    """Choose the annotation of a question that counts: the earliest that keeps it.

    None when more than half of its annotators discard it.
    """
    keeping = [annotation for annotation in annotations if annotation.discarded is None]
    if 2 * len(keeping) < len(annotations):
        return None
    return min(keeping, key=lambda annotation: annotation.number, default=None)


def edit_statistics(kept: Mapping[str, Annotation], questions: Questions) -> dict[str, float]:
    """Measure what annotators changed in the kept questions; `edit_words` is the mean distance over the edited ones."""
    if not kept:
        return {}
    words = np.array([edited_words(annotation, questions[name]) for name, annotation in kept.items()])
    other = [is_other_image(annotation, questions[name]) for name, annotation in kept.items()]
    metrics = {"edited_share": float((words > 0).mean()), "other_image_share": float(np.mean(other))}
    return metrics | ({"edit_words": float(words[words > 0].mean())} if words.any() else {})
