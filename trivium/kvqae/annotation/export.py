"""What annotators decided, from Label Studio's export, and how far they agree (kvqae.md §2).

Three decisions: discard the question, change its text, change its image. A discarded question counts as changed in
both, since nobody can say what its annotator would have kept.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rapidfuzz.distance import Levenshtein

from trivium.core.errors import BadInput
from trivium.formats.label_studio import ExportedAnnotation, ExportedTask, read_export
from trivium.kvqae.annotation.generated_questions import GeneratedQuestion
from trivium.kvqae.annotation.project import CONTROLS, DECISION, DISCARD_REASONS, IMAGE, KEEP, PROJECT, QUESTION
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
        By question, its annotations in the order of their numbers (only questions that have one). And counts:
        tasks, annotations, cancelled_annotations, unannotated_tasks.

    Raises:
        BadInput: names the task (counted from 1) and the field: an export of another project or of other generated
            questions, a task twice, an annotator who annotated a task twice, no decision, a kept question without text
            or image, an image that is not among the candidates.
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
        made = [_annotation(each, question, path, task.row) for each in task.annotations]
        counts["tasks"] += 1
        counts["annotations"] += len(made)
        counts["cancelled_annotations"] += task.cancelled
        counts["unannotated_tasks"] += not made
        if made:
            annotations[question.id] = sorted(made, key=lambda each: each.number)
    return annotations, counts


def _question(task: ExportedTask, questions: Mapping[str, GeneratedQuestion], path: Path) -> GeneratedQuestion:
    data = task.data
    if data.get("project") != PROJECT:
        problem = "an export of another project"
        raise BadInput(
            problem, file=path, row=task.row, field="data.project", got=data.get("project"), expected=PROJECT
        )
    if data.get("id") not in questions:
        raise BadInput("unknown question", file=path, row=task.row, field="data.id", got=data.get("id"))
    question = questions[data["id"]]
    given = [image.get("value") if isinstance(image, dict) else image for image in data.get("images") or ()]
    for field, got, expected in (
        ("question", data.get("question"), question.text),
        ("answer", data.get("answer"), question.original_answer),
        ("images", given, list(question.images)),
    ):
        if got != expected:
            problem = "annotators were given something else than what is generated now"
            raise BadInput(problem, file=path, row=task.row, field=f"data.{field}", got=got, expected=repr(expected))
    return question


def _annotation(each: ExportedAnnotation, question: GeneratedQuestion, path: Path, row: int) -> Annotation:
    decision = _one(each, DECISION, path, row)
    if decision in DISCARD_REASONS:
        return Annotation(each.number, each.annotator, decision, None, None)
    field = f"{each.field}.result"
    if decision != KEEP:
        choices = (KEEP, *DISCARD_REASONS)
        raise BadInput(
            "unknown decision", file=path, row=row, field=f"{field}.{DECISION}", got=decision, choices=choices
        )
    image = _one(each, IMAGE, path, row)
    if image not in question.images:
        problem = "not among the candidates"
        raise BadInput(problem, file=path, row=row, field=f"{field}.{IMAGE}", got=image, choices=question.images)
    text = " ".join(_one(each, QUESTION, path, row).split())
    return Annotation(each.number, each.annotator, None, text, image)


def _one(each: ExportedAnnotation, control: str, path: Path, row: int) -> str:
    """The value of a control that has to be filled in once."""
    values = each.controls.get(control, ())
    if len(values) != 1 or not values[0].strip():
        problem = f"annotator {each.annotator!r} left it empty" if not "".join(values).strip() else "several values"
        raise BadInput(problem, file=path, row=row, field=f"{each.field}.result.{control}", got=list(values))
    return values[0]


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
    """Edit distance, in words, between the generated question and what the annotator made of it."""
    return Levenshtein.distance(question.text.split(), (annotation.text or "").split())


def is_other_image(annotation: Annotation, question: GeneratedQuestion) -> bool:
    """Whether the annotator took another image than the one that was selected."""
    return annotation.image != question.images[0]


def agreement(annotations: Annotations, questions: Questions, least: int) -> dict[str, float]:
    """Fleiss' κ of each decision over the questions that `least` annotators or more decided on.

    Returns:
        agreement_questions, and kappa_{decision} where κ is defined.
    """
    several = {identifier: made for identifier, made in annotations.items() if len(made) >= least}
    metrics = {"agreement_questions": float(len(several))}
    votes = [[decisions(each, questions[identifier]) for each in made] for identifier, made in several.items()]
    for number, name in enumerate(DECISIONS):
        yes = np.array([sum(vote[number] for vote in made) for made in votes])
        total = np.array([len(made) for made in votes])
        kappa = fleiss_kappa(np.column_stack([total - yes, yes])) if votes else None
        metrics |= {} if kappa is None else {f"kappa_{name}": kappa}
    return metrics


def settle(annotations: Sequence[Annotation]) -> Annotation | None:
    """The annotation of a question that counts; None when it is discarded.

    A question is discarded when more than half of its annotators discard it. Else the earliest annotation that keeps
    it counts: texts cannot be averaged, and every annotator follows the same instructions.
    """
    keeping = [each for each in annotations if each.discarded is None]
    if not keeping:
        return None
    return min(keeping, key=lambda each: each.number) if 2 * len(keeping) >= len(annotations) else None


def edit_statistics(kept: Mapping[str, Annotation], questions: Questions) -> dict[str, float]:
    """What annotators changed in the questions that were kept.

    Returns:
        Shares edited_share and other_image_share; edit_words, the mean distance in words over the edited ones.
    """
    if not kept:
        return {}
    words = np.array([edited_words(each, questions[identifier]) for identifier, each in kept.items()])
    other = [is_other_image(each, questions[identifier]) for identifier, each in kept.items()]
    metrics = {"edited_share": float((words > 0).mean()), "other_image_share": float(np.mean(other))}
    return metrics | ({"edit_words": float(words[words > 0].mean())} if words.any() else {})
