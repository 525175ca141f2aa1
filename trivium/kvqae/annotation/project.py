"""Label Studio: tasks for annotators, their exported decisions, and their agreement (kvqae.md §2).

Texts are task data that the interface shows without interpreting markup. Pictures are markup made here: a `span` with a
background image. Label Studio removes `data:` addresses from an `img`, and its `Image` shows no picture of a server
without CORS.

There are three decisions: discard the question, change its text, change its image. A discarded question counts as
changed in both.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import cycle, islice
from pathlib import Path
from typing import Any
from urllib.parse import quote
from xml.sax.saxutils import quoteattr

import numpy as np
from rapidfuzz.distance import Levenshtein

from trivium.core.errors import BadInput
from trivium.core.image_shards import Images
from trivium.formats.label_studio import ExportedAnnotation, ExportedTask, read_export
from trivium.kvqae.construction.generation import GeneratedQuestion
from trivium.measures.agreement import fleiss_kappa
from trivium.vision.decoding import Unreadable, data_address, decode_picture

PROJECT = "viquae-annotation-1"  # in every task, to recognise exports of other projects
DECISION, QUESTION, IMAGE = "decision", "question", "image"
CONTROLS = {DECISION: "choices", QUESTION: "text", IMAGE: "choices"}  # control → field of its results
KEEP = "keep"
EXPORT, EXPECTED = "export.json", "expected.json"  # of the folder that stage `kvqae-annotations` writes
DISCARD_REASONS = ("overspecified", "without a relevant image", "otherwise unfit")

# The labelling interface, in Label Studio's XML (`config.xml`), and the rules that annotators follow.
TEMPLATES = files("trivium.kvqae.annotation") / "templates"


def annotation_task(
    question: GeneratedQuestion, annotators: Sequence[str], address: Callable[[str], str], reference: str
) -> dict[str, Any]:
    """Make a question's task for annotators, by their codes.

    `address` returns a candidate image's address for a browser, `reference` is that of the knowledge base's image; both
    have no quotation marks, see `AnnotationTasksParameters`.
    """
    images = [
        {"value": name, "html": _picture(address(name)), "selected": number == 0}
        for number, name in enumerate(question.images)
    ]
    return {
        "data": {
            "project": PROJECT,
            "id": question.id,
            "annotators": " ".join(annotators),
            "original_question": question.original_question,
            "answer": question.original_answer,
            "mentions": " · ".join(question.other_mentions) or "none",
            "reference": _picture(reference),
            "question": question.text,
            "images": images,
        }
    }


def _picture(address: str) -> str:
    style = f'background-image: url("{address}")'
    return f'<span class="trivium-picture" style={quoteattr(style)}></span>'


NO_PICTURE = "data:,"  # address of an image that is missing or cannot be read: nothing is shown
_MAX_PIXELS = 200_000_000


def address_of(name: str, address: str) -> str:
    """Replace `{name}` in `address` by an image's name."""
    return address.replace("{name}", quote(name, safe=""))


def embedder(images: Images, side: int, counts: Counter[str]) -> Callable[[str], str]:
    """Make a function from an image's name to a `data:` address, its longer side at most `side` pixels.

    `counts` receives `unreadable` pictures, which show nothing, and those with a flaw (`decoding.FLAWS`).
    """

    @cache
    def embedded(name: str) -> str:
        try:
            picture = decode_picture(images.read(name), max_side=side, max_pixels=_MAX_PIXELS)
        except Unreadable:
            counts["unreadable"] += 1
            return NO_PICTURE
        counts.update(picture.flaws)
        return data_address(picture.image, quality=80)

    return embedded


def balanced_sample(
    questions: Sequence[GeneratedQuestion], most: int, largest_share: float, rng: np.random.Generator
) -> list[GeneratedQuestion]:
    """Draw the largest random sample, in random order, of which neither persons nor others exceed `largest_share`.

    With m questions of the smaller kind, n ≤ m / (1 - largest_share). As far as the share allows, both kinds keep their
    proportion among all questions.
    """
    shuffled = [questions[place] for place in rng.permutation(len(questions))]
    persons = [question for question in shuffled if question.human]
    others = [question for question in shuffled if not question.human]
    fewer, more = sorted((persons, others), key=len)
    number = min(most, len(shuffled))
    if largest_share < 1:
        number = min(number, int(len(fewer) / (1 - largest_share) + 1e-9))
    allowed = min(len(more), int(largest_share * number + 1e-9))
    of_more = min(allowed, round(number * len(more) / len(shuffled)))
    of_more = max(of_more, number - len(fewer))
    chosen = more[:of_more] + fewer[: number - of_more]
    return [chosen[place] for place in rng.permutation(len(chosen))]


def share_out(tasks: int, overlapping: int, several: int, annotators: int) -> list[list[str]]:
    """Assign tasks to annotators in turn, by code; each of the first `overlapping` tasks has `several` annotators."""
    codes = cycle([f"A{number:02d}" for number in range(1, annotators + 1)])
    return [list(islice(codes, several if task < overlapping else 1)) for task in range(tasks)]


@dataclass(frozen=True)
class Annotation:
    """One annotator's decision on one question.

    `number` is Label Studio's, which grows with time; `discarded` is the reason, None if the question is kept; `text`
    and `image` are as edited and chosen, None if it is discarded.
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

    `BadInput`: the message names the task (counted from 1) and the field. Returns annotations by question, in the order
    of their numbers; and counts.
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
            problem = "differs from the generated question"
            raise BadInput(problem, file=path, row=task.row, field=f"data.{field}", got=got, expected=repr(expected))
    return question


def _annotation(exported: ExportedAnnotation, question: GeneratedQuestion, path: Path, row: int) -> Annotation:
    def one(control: str, choices: Sequence[str] | None = None) -> str:
        """Return the value of a control, which must have exactly one."""
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
    """Return whether the annotator discarded the question, changed its text, changed its image (as `DECISIONS`)."""
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
    """Whether the annotator chose another image than the preselected one."""
    return annotation.image != question.images[0]


def agreement(annotations: Annotations, questions: Questions, least: int) -> dict[str, float]:
    """Compute Fleiss' κ of each decision over the questions with at least `least` annotators."""
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
    """Choose the annotation of a question that counts: the earliest one that keeps it.

    None if more than half of its annotators discard it.
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
